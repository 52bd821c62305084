import { posix } from "node:path";

/**
 * Files that run by themselves on a developer's machine, or on a CI server, once they are in the repository. A caller
 * may want a person to look at them before anyone checks the branch out.
 */
export const PROTECTED_PATHS: readonly RegExp[] = [
  /(^|\/)\.husky\//,
  /(^|\/)\.githooks\//,
  /(^|\/)\.pre-commit-config\.ya?ml$/,
  /(^|\/)lefthook\.(ya?ml|toml|json)$/,
  /(^|\/)\.envrc$/,
  /(^|\/)\.(claude|codex|cursor|gemini|opencode|pi)\//,
  /(^|\/)(claude|agents|gemini)\.md$/,
  /(^|\/)\.mcp\.json$/,
  /(^|\/)\.vscode\//,
  /(^|\/)\.(idea|zed|fleet)\//,
  /\.code-workspace$/,
  /(^|\/)\.devcontainer(\/|\.json$)/,
  /(^|\/)\.(github|forgejo|gitea)\/(workflows|actions)\//,
  /(^|\/)\.(circleci|buildkite|woodpecker)\//,
  /(^|\/)(\.gitlab-ci|\.travis|\.woodpecker|azure-pipelines|bitbucket-pipelines)\.ya?ml$/,
  /(^|\/)Jenkinsfile$/,
  /(^|\/)package\.json$/,
  /(^|\/)node_modules\//,
  /(^|\/)\.npmrc$/,
  /(^|\/)\.yarnrc(\.yml)?$/,
  /(^|\/)\.yarn\//,
  /(^|\/)\.pnpmfile\.cjs$/,
  /(^|\/)\.cargo\/config(\.toml)?$/,
  /(^|\/)\.?mise\.toml$/,
  /(^|\/)\.(gitattributes|gitmodules|gitconfig|lfsconfig)$/,
  /^\.sanddune(\/|$)/,
];

const PATTERN = new RegExp(PROTECTED_PATHS.map(({ source }) => source).join("|"), "i");

/** Case is ignored, because some file systems do. */
export const isProtectedPath = (path: string): boolean => PATTERN.test(path);

/** Whether a symbolic link at `path` leads out of the repository, or into its git directory. */
export const leavesRepository = (path: string, target: string): boolean => {
  if (posix.isAbsolute(target)) return true;
  const destination = posix.normalize(posix.join(posix.dirname(path), target));
  return destination === ".." || destination.startsWith("../") || /(^|\/)\.git(\/|$)/i.test(destination);
};

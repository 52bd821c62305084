import { posix } from "node:path";

/**
 * Files that programs run or obey without being asked, on a developer's machine or a CI server, once they are checked
 * out. A person should review changes to them before the branch is checked out.
 */
export const PROTECTED_PATHS: readonly RegExp[] = [
  /(^|\/)\.husky\//,
  /(^|\/)\.githooks\//,
  /(^|\/)\.pre-commit-config\.ya?ml$/,
  /(^|\/)lefthook\.(ya?ml|toml|json)$/,
  /(^|\/)\.envrc$/,
  /(^|\/)\.(claude|codex|cursor|gemini|opencode|pi|roo|continue|windsurf|kiro|junie|augment|amazonq)\//,
  /(^|\/)(claude|agents|gemini)\.md$/,
  /(^|\/)\.aider\.conf\.ya?ml$/,
  /(^|\/)\.(cursor|windsurf|cline|roo)rules(-[^/]*)?(\/|$)/,
  /(^|\/)\.roomodes$/,
  /(^|\/)\.github\/(copilot-instructions\.md$|(instructions|prompts|agents|chatmodes)\/)/,
  /(^|\/)\.mcp\.json$/,
  /(^|\/)\.vscode\//,
  /(^|\/)\.(idea|zed|fleet)\//,
  /\.code-workspace$/,
  /(^|\/)\.devcontainer(\/|\.json$)/,
  /(^|\/)\.(github|forgejo|gitea)\/(workflows|actions|hooks)\//,
  /(^|\/)\.(circleci|buildkite|woodpecker|semaphore)\//,
  /(^|\/)(\.gitlab-ci|\.travis|\.woodpecker|azure-pipelines|bitbucket-pipelines)\.ya?ml$/,
  /(^|\/)(\.drone|\.cirrus|\.?appveyor)\.ya?ml$/,
  /(^|\/)\.(drone\.(star|jsonnet)|cirrus\.star)$/,
  /(^|\/)Jenkinsfile$/,
  /(^|\/)package\.json$/,
  /(^|\/)node_modules\//,
  /(^|\/)\.npmrc$/,
  /(^|\/)\.yarnrc(\.yml)?$/,
  /(^|\/)\.yarn\//,
  /(^|\/)\.pnpmfile\.cjs$/,
  /(^|\/)bunfig\.toml$/,
  /(^|\/)\.pnp\.(loader\.)?[cm]?js$/,
  /(^|\/)\.mvn\//,
  /(^|\/)gradle-wrapper\.(properties|jar)$/,
  /(^|\/)\.dir-locals(-2)?\.el$/,
  /(^|\/)\.(exrc|n?vimrc|nvim\.lua)$/,
  /(^|\/)\.(gdb|lldb)init$/,
  /(^|\/)\.(Rprofile|irbrc|pdbrc)$/,
  /(^|\/)\.cargo\/config(\.toml)?$/,
  /(^|\/)\.?mise\.toml$/,
  /(^|\/)\.(gitattributes|gitmodules|gitconfig|lfsconfig)$/,
  /^\.sanddune(\/|$)/,
];

const PATTERN = new RegExp(PROTECTED_PATHS.map(({ source }) => source).join("|"), "i");

/** Case is ignored, because some file systems do. */
export const isProtectedPath = (path: string): boolean => PATTERN.test(path);

/** Paths below a link: enough to find out whether it replaces a directory of protected files. */
const INSIDE = ["x", "config", "workflows/x"] as const;

/** Whether a link at `path` replaces a directory of protected files, which then have other paths. */
export const isProtectedLink = (path: string): boolean =>
  INSIDE.some((inside) => isProtectedPath(`${path}/${inside}`));

/** Whether a symbolic link at `path` leads out of the repository, into `.git` or into `.sanddune`. */
export const leavesRepository = (path: string, target: string): boolean => {
  if (posix.isAbsolute(target)) return true;
  const destination = posix.normalize(posix.join(posix.dirname(path), target));
  return (
    destination === ".." ||
    destination.startsWith("../") ||
    /(^|\/)\.git(\/|$)|^\.sanddune(\/|$)/i.test(destination)
  );
};

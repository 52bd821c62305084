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
  /(^|\/)\.mcp\.json$/,
  /(^|\/)\.vscode\//,
  /(^|\/)\.idea\//,
  /(^|\/)\.devcontainer(\/|\.json$)/,
  /(^|\/)\.github\/(workflows|actions)\//,
  /(^|\/)\.gitlab-ci\.yml$/,
  /(^|\/)\.circleci\//,
  /(^|\/)Jenkinsfile$/,
  /(^|\/)package\.json$/,
  /(^|\/)\.npmrc$/,
  /(^|\/)\.yarnrc(\.yml)?$/,
  /(^|\/)\.pnpmfile\.cjs$/,
  /(^|\/)\.gitattributes$/,
  /(^|\/)\.gitmodules$/,
  /^\.sanddune\//,
];

/** Case is ignored, because some file systems do. */
export const isProtectedPath = (path: string): boolean =>
  PROTECTED_PATHS.some((pattern) => new RegExp(pattern.source, "i").test(path));

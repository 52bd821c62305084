/** The variable of the shell that names the file. */
export const PROMPT_FILE = "_sanddune_prompt";

/**
 * Lines for `sh` that put what comes in on stdin into a file of its own, which is gone when the shell ends: for agents
 * that do not read a prompt from there.
 */
export const writePromptFile = (
  atEnd = ":",
): string => `${PROMPT_FILE}=$(mktemp "\${TMPDIR:-/tmp}/sanddune-prompt.XXXXXX") || exit 1
trap '${PROMPT_FILE}_code=$?; rm -f -- "$${PROMPT_FILE}"; ${atEnd}; exit "$${PROMPT_FILE}_code"' EXIT
cat >"$${PROMPT_FILE}" || exit 1`;

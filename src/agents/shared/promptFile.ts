/** The shell variable that names the file. */
export const PROMPT_FILE = "_sanddune_prompt";

/**
 * Lines for `sh` that write stdin to a temporary file, for agents that do not read a prompt from stdin. The file is removed when
 * the shell ends.
 */
export const writePromptFile = (
  atEnd = ":",
): string => `${PROMPT_FILE}=$(mktemp "\${TMPDIR:-/tmp}/sanddune-prompt.XXXXXX") || exit 1
trap '${PROMPT_FILE}_code=$?; rm -f -- "$${PROMPT_FILE}"; ${atEnd}; exit "$${PROMPT_FILE}_code"' EXIT
cat >"$${PROMPT_FILE}" || exit 1`;

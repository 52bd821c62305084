/** The shell variable that names the file. */
export const PROMPT_FILE = "_sanddune_prompt";

/** Lines for `sh` that write stdin to a file until the shell ends: some agents read no prompt from stdin. */
export const writePromptFile = (
  atEnd = ":",
): string => `${PROMPT_FILE}=$(mktemp "\${TMPDIR:-/tmp}/sanddune-prompt.XXXXXX") || exit 1
trap '${PROMPT_FILE}_code=$?; rm -f -- "$${PROMPT_FILE}"; ${atEnd}; exit "$${PROMPT_FILE}_code"' EXIT
cat >"$${PROMPT_FILE}" || exit 1`;

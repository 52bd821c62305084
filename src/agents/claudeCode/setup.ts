import { shellQuote } from "../../tools/shellQuote.ts";

/** What stands for the approved key in what follows: it is known in the sandbox alone. */
const KEY = "SANDDUNE_APPROVED_KEY";

/** Claude Code takes these beside settings of the image's. */
export const SKIP_WARNING = ["--settings", JSON.stringify({ skipDangerousModePermissionPrompt: true })];

/**
 * In a fresh sandbox Claude Code would ask a person about its theme, about the key and about trusting the directory,
 * before it begins. All of that has been decided by whoever made the sandbox. It is put at the end of what is there: of a
 * key that is there twice, the last one counts.
 */
export const claudeCodeSetup = (cwd: string): string => {
  const state = JSON.stringify({
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [KEY], rejected: [] },
    projects: { [cwd]: { hasTrustDialogAccepted: true } },
  });
  const [before = "", after = ""] = state.slice(1, -1).split(KEY);
  return `_sanddune_claude() {
  printf '%s%s%s}\\n' ${shellQuote(before)} "$(printf '%s' "$ANTHROPIC_API_KEY" | tail -c 20)" ${shellQuote(after)}
}
_sanddune_state="\${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json"
mkdir -p -- "\${CLAUDE_CONFIG_DIR:-$HOME}"
if ! grep -qs '[^{}[:space:]]' "$_sanddune_state"; then
  { printf '{'; _sanddune_claude; } >"$_sanddune_state"
elif ! grep -qF ${shellQuote(JSON.stringify(cwd))} "$_sanddune_state" ||
  ! grep -q '"hasCompletedOnboarding": *true' "$_sanddune_state" ||
  ! grep -q '"hasTrustDialogAccepted": *true' "$_sanddune_state"; then
  _sanddune_before=$(cat -- "$_sanddune_state")
  _sanddune_end='}'
  { printf '%s,' "\${_sanddune_before%"$_sanddune_end"*}"; _sanddune_claude; } >"$_sanddune_state.sanddune" &&
    mv -- "$_sanddune_state.sanddune" "$_sanddune_state"
fi
unset -f _sanddune_claude
unset _sanddune_state _sanddune_before _sanddune_end`;
};

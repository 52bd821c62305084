import { shellQuote } from "../../tools/shellQuote.ts";

/** The place of the approved key in the text below: only the sandbox knows the key. */
const KEY = "SANDDUNE_APPROVED_KEY";

/** Claude Code merges these with the settings of the image. */
export const SKIP_WARNING = ["--settings", JSON.stringify({ skipDangerousModePermissionPrompt: true })];

/**
 * In a fresh sandbox Claude Code would ask about its theme, about the key and about trusting the directory. The answers are
 * appended to its state file, if there is one: of a key that a JSON object has twice, the last one counts.
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

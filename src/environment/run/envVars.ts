import type { TestPlace } from "../worker/messages.ts";

/** The env var with the token of a test server. */
export const TOKEN_VARIABLE = "SANDDUNE_ENVIRONMENT_TOKEN";

/** The env vars of this process, and the directories. No token: the tested code runs there, too. */
export const environmentOf = ({
  directory,
  worktree,
  scratch,
}: TestPlace): Record<string, string | undefined> => ({
  ...process.env,
  [TOKEN_VARIABLE]: undefined,
  // Programs read the output.
  FORCE_COLOR: undefined,
  NO_COLOR: "1",
  SANDDUNE_ENVIRONMENT: directory,
  SANDDUNE_WORKTREE: worktree,
  SANDDUNE_SCRATCH: scratch,
});

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateSandboxOptions,
  createSandbox,
  createWorktree,
  type Sandbox,
  type SandboxRunResult,
  type ScriptedStep,
  scripted,
  type Worktree,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { afterTest } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { fireOnHost } from "../git/gitPayloads.ts";

export const BRANCH = "agent/work";

/** A sandbox that lasts, in bubblewrap unless told otherwise; closed after the test. */
export const openSandbox = async (
  cwd: string,
  options: Partial<CreateSandboxOptions> = {},
): Promise<Sandbox> => {
  const sandbox = await createSandbox({ branch: BRANCH, sandbox: bubblewrap(), cwd, ...options });
  afterTest(async () => void (await ending(sandbox.close())));
  return sandbox;
};

/** A worktree that lasts; closed after the test. */
export const openWorktree = async (cwd: string): Promise<Worktree> => {
  const worktree = await createWorktree({ branchStrategy: { type: "branch", branch: BRANCH }, cwd });
  afterTest(async () => void (await ending(worktree.close())));
  return worktree;
};

/** Lets a scripted agent work in a sandbox that lasts. */
export const playIn = (sandbox: Sandbox, ...steps: readonly ScriptedStep[]): Promise<SandboxRunResult> =>
  sandbox.run({ agent: scripted(steps), prompt: "Work", idleTimeoutSeconds: 10 });

/** Runs commands as the user would. Whether they succeed is not the question. */
export const asUser = (cwd: string, script: string): void => {
  try {
    execFileSync("sh", ["-c", script], { cwd, stdio: "ignore" });
  } catch {}
};

/** What a user does every day, in a directory that agents work in. */
export const EVERY_DAY =
  "git status; git diff HEAD; git log -p -3 --stat; git stash list; git branch -vv; git ls-files --others";

/** Commits as the user would, in the worktree or elsewhere; gives the commit. */
export const commitAsUser = (cwd: string, subject: string): string => {
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", subject);
  return git(cwd, "rev-parse", "HEAD");
};

/** A place that no sandbox sees, for files whose creation proves that something of the agent's ran on the host. */
export const canaries = () => {
  const directory = temporaryDirectory();
  return {
    fire: (name: string) => fireOnHost(join(directory, name)),
    fired: () => readdirSync(directory),
  };
};

export const subjects = (cwd: string, range: string): string[] =>
  git(cwd, "log", "--format=%s", range)
    .split("\n")
    .filter((line) => line !== "");

/** How a call ended; fails, loudly, if it never does. */
export const ending = async (call: Promise<unknown>): Promise<unknown> => {
  let outcome: { readonly value: unknown } | undefined;
  call.then(
    (value) => {
      outcome = { value };
    },
    (error: unknown) => {
      outcome = { value: error };
    },
  );
  await waitFor(() => outcome !== undefined, 45_000);
  return outcome?.value;
};

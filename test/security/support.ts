import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import {
  type RunOptions,
  type RunResult,
  run,
  type SandduneError,
  type ScriptedStep,
  scripted,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { git, temporaryDirectory } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";

export const SANDBOXES = { bubblewrap: () => bubblewrap(), isolated: () => testIsolated() } as const;
export type SandboxName = keyof typeof SANDBOXES;

export const STRATEGIES = {
  head: { type: "head" },
  "merge-to-head": { type: "merge-to-head" },
  branch: { type: "branch", branch: "agent/work" },
} as const;
export type StrategyName = keyof typeof STRATEGIES;

type Overrides = Partial<Omit<RunOptions, "promptFile" | "sandbox">> & { readonly sandbox?: SandboxProvider };

/** Runs a scripted agent in a bubblewrap sandbox, unless told otherwise. */
export const play = (
  cwd: string,
  steps: Parameters<typeof scripted>[0],
  { sandbox = bubblewrap(), prompt = "Work", ...overrides }: Overrides = {},
): Promise<RunResult> =>
  run({ agent: scripted(steps), sandbox, prompt, cwd, idleTimeoutSeconds: 60, ...overrides } as RunOptions);

/** The same in an isolated sandbox, which is always there, and in bubblewrap. */
export const describeInBoth = (title: string, body: (name: SandboxName) => void): void => {
  describe(`${title} (isolated)`, () => body("isolated"));
  describeWith(["bubblewrap"], `${title} (bubblewrap)`, () => body("bubblewrap"));
};

/** The error that a run ended with. A run that succeeded fails the test. */
export const failureOf = async (running: Promise<unknown>): Promise<SandduneError> => {
  const ended = await running.then(
    (result) => ({ result }),
    (error: SandduneError) => ({ error }),
  );
  if ("error" in ended) return ended.error;
  throw new Error(`the run was expected to fail, but resolved with ${JSON.stringify(ended.result)}`);
};

export const shell = (...lines: string[]): ScriptedStep => ({ shell: lines.join("\n") });

/** A command that fails does not end an agent's script. With these, the agent dies of the first that does. */
export const mustSucceed = (...lines: string[]): ScriptedStep =>
  shell("trap 'test $? = 0 || kill -KILL $PPID' EXIT", "set -e", ...lines);

/** Every ref of the user, HEAD included; not the ones of sanddune's own. */
export const userRefs = (cwd: string): string =>
  [
    git(cwd, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/remotes"),
    readFileSync(join(git(cwd, "rev-parse", "--absolute-git-dir"), "HEAD"), "utf8"),
  ].join("\n");

/** Refs of sanddune's own. A run that ended well leaves none. */
export const runRefs = (cwd: string): string =>
  git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune", "refs/heads/sanddune");

export const journalsOf = (cwd: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .map((id) => join(runs, id, "journal.jsonl"))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"));
};

/** Locks that are held, or were left behind. */
export const locksOf = (cwd: string): string[] => {
  const locks = join(git(cwd, "rev-parse", "--path-format=absolute", "--git-common-dir"), "sanddune/locks");
  return existsSync(locks) ? readdirSync(locks) : [];
};

export const worktreesOf = (cwd: string): string[] =>
  git(cwd, "worktree", "list", "--porcelain")
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length));

/** A directory that host and sandbox both see, at the same path, so that they can wait for each other. */
export interface MeetingPoint {
  readonly sandboxes: Record<SandboxName, () => SandboxProvider>;
  /** The agent's side: says that it has come here, and waits until the host lets it go on. */
  readonly wait: ScriptedStep;
  /** The host's side: once the agent has come, does something and lets it go on. */
  meet(action: () => void | Promise<void>): Promise<void>;
}

export const meetingPoint = (): MeetingPoint => {
  const directory = temporaryDirectory();
  const mounts = [{ hostPath: directory, sandboxPath: directory }];
  return {
    sandboxes: { bubblewrap: () => bubblewrap({ mounts }), isolated: () => testIsolated() },
    wait: shell(`touch ${directory}/here; until [ -e ${directory}/go ]; do sleep 0.02; done`),
    meet: async (action) => {
      await waitFor(() => existsSync(join(directory, "here")));
      await action();
      writeFileSync(join(directory, "go"), "");
    },
  };
};

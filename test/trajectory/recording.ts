import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type RunOptions, type RunResult, run, type ScriptedStep, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import type { TrajectoryEntry } from "../../src/trajectory/record/file.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { git, makeRepository, temporaryDirectory } from "../helpers/repository/repository.ts";

/** What a run has recorded so far. */
export const entriesOf = (runDirectory: string): TrajectoryEntry[] => {
  const path = join(runDirectory, "trajectory.jsonl");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TrajectoryEntry);
};

export const ofType = <Type extends TrajectoryEntry["type"]>(
  entries: readonly TrajectoryEntry[],
  type: Type,
): Extract<TrajectoryEntry, { type: Type }>[] =>
  entries.filter((entry): entry is Extract<TrajectoryEntry, { type: Type }> => entry.type === type);

const runDirectories = (cwd: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  return (existsSync(runs) ? readdirSync(runs) : [])
    .filter((name) => /^\d{8}-/.test(name))
    .map((name) => join(runs, name));
};

/** Whether the files have been looked at after an action. */
const isSeen = (cwd: string, action: number): boolean =>
  runDirectories(cwd)
    .flatMap(entriesOf)
    .some((entry) => (entry.type === "checkpoint" || entry.type === "unchanged") && entry.number >= action);

/** Where host and sandbox meet: at the same path in both. */
export interface Stage {
  readonly directory: string;
  /** A step that does not begin before the host has seen what came of the action before. */
  step(command: string): ScriptedStep;
  /** Lets the steps begin, one after the other, each when the one before has been seen; after some, all at once. */
  conduct(cwd: string, count?: number): Promise<void>;
}

export const createStage = (directory = temporaryDirectory()): Stage => {
  let steps = 0;
  const release = (action: number) => writeFileSync(join(directory, `go-${action}`), "");
  return {
    directory,
    step: (command) => ({
      shell: `until [ -e ${directory}/go-${++steps} ]; do sleep 0.01; done\n${command}`,
    }),
    conduct: async (cwd, count = steps) => {
      for (let action = 1; action <= count; action++) {
        release(action);
        await waitFor(() => isSeen(cwd, action));
      }
      for (let action = count + 1; action <= steps; action++) release(action);
    },
  };
};

export type SandboxName = "isolated" | "bubblewrap";

/** A sandbox that sees a directory of the host. */
export const sandboxFor = (name: SandboxName, directory: string): SandboxProvider =>
  name === "isolated"
    ? testIsolated()
    : bubblewrap({ mounts: [{ hostPath: directory, sandboxPath: directory }] });

type Overrides = Partial<Omit<RunOptions, "agent" | "promptFile" | "promptArgs" | "sandbox" | "cwd">>;

export const BRANCH = { type: "branch", branch: "agent/work" } as const;

/** Runs shell commands as the actions of an agent, each of them seen before the next begins, and records them. */
export const record = async (
  cwd: string,
  commands: readonly string[],
  {
    sandbox = "isolated",
    seen,
    stage = createStage(),
    ...overrides
  }: Overrides & {
    readonly sandbox?: SandboxName;
    readonly stage?: Stage;
    /** How many of the actions can be seen: all of them, unless the agent keeps us from it. */
    readonly seen?: number;
  } = {},
): Promise<RunResult> => {
  const [result] = await Promise.all([
    run({
      agent: scripted(commands.map((command) => stage.step(command))),
      sandbox: sandboxFor(sandbox, stage.directory),
      prompt: "Work",
      cwd,
      branchStrategy: BRANCH,
      trajectory: true,
      ...overrides,
    } as RunOptions),
    stage.conduct(cwd, seen),
  ]);
  return result;
};

export const directoryOf = (cwd: string, { runId }: { readonly runId?: string }): string =>
  join(cwd, ".sanddune/runs", runId ?? "");

/** The checkpoints of a run as the repository has them: number and files. */
export const checkpointsOf = (
  cwd: string,
  { runId }: { readonly runId?: string },
): Record<string, string[]> => {
  const prefix = `refs/sanddune/${runId}/checkpoints/`;
  const numbers = git(cwd, "for-each-ref", "--format=%(refname)", prefix)
    .split("\n")
    .filter((ref) => ref !== "")
    .map((ref) => ref.slice(prefix.length));
  return Object.fromEntries(
    numbers.map((number) => [
      number,
      git(cwd, "ls-tree", "-r", "--name-only", `${prefix}${number}`).split("\n"),
    ]),
  );
};

/** Records a run once for all tests of a file. Each of them gets a copy of the repository. */
export const useRecording = (
  commands: readonly string[],
): (() => { readonly cwd: string; readonly result: RunResult }) => {
  let directory = "";
  let result: RunResult;
  const original = () => join(directory, "repository");
  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-recording-")));
    const [cwd, stage] = [original(), join(directory, "stage")];
    mkdirSync(stage);
    makeRepository(cwd);
    result = await record(cwd, commands, { stage: createStage(stage) });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return () => {
    const cwd = temporaryDirectory();
    cpSync(original(), cwd, { recursive: true });
    return { cwd, result };
  };
};

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hooks, ScriptedStep } from "../../../src/index.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { builtCli } from "../../helpers/built.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const cli = builtCli();

/** A run with a scripted agent in bubblewrap, as far as JSON can tell of it. */
export interface ChildRun {
  readonly cwd: string;
  readonly steps: readonly ScriptedStep[];
  readonly name?: string;
  /** The head strategy if it is left out. */
  readonly branch?: string;
  readonly maxIterations?: number;
  readonly logging?: { readonly type: "file" | "stdout"; readonly verbose?: boolean };
  readonly hooks?: Hooks;
  /** A directory that host and sandbox both see, at the same path. */
  readonly shared?: string;
}

const program = (runs: readonly ChildRun[]): string => `
  import { run, scripted } from ${JSON.stringify(join(dirname(cli), "index.js"))};
  import { bubblewrap } from ${JSON.stringify(join(dirname(cli), "sandboxes/bubblewrap.js"))};
  const outcomes = await Promise.allSettled(
    ${JSON.stringify(runs)}.map(({ steps, branch, shared, ...options }) =>
      run({
        agent: scripted(steps),
        sandbox: bubblewrap(shared && { mounts: [{ hostPath: shared, sandboxPath: shared }] }),
        prompt: "Work",
        ...(branch && { branchStrategy: { type: "branch", branch } }),
        ...options,
      }),
    ),
  );
  for (const { reason } of outcomes) if (reason) process.exitCode = 1;
`;

/** A command line that makes runs, all at once, in a process of their own, with the package as it is published. */
export const childRuns = (...runs: readonly ChildRun[]): string => {
  const path = join(temporaryDirectory(), "runs.mjs");
  writeFileSync(path, program(runs));
  return `${shellQuote(process.execPath)} ${shellQuote(path)}`;
};

/** A command line of sanddune's own, as it is published. */
export const sanddune = (...args: readonly string[]): string =>
  [process.execPath, cli, ...args].map(shellQuote).join(" ");

/** The lines in a terminal's bytes, as far as they were not erased again; without their styles. */
export const linesThatStay = (bytes: string): string[] =>
  bytes
    .split("\r\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1).replace(/\u001b\[[0-9;]*[A-Za-z]/g, ""));

/** The lines that a command prints when there is no terminal. */
export const linesOf = (command: string): { readonly stdout: string[]; readonly stderr: string[] } => {
  const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  const lines = (text: string) => text.split("\n").slice(0, -1);
  return { stdout: lines(stdout), stderr: lines(stderr) };
};

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ProcessStartError, ProcessTimeoutError } from "../../errors.ts";
import { killGroup } from "../../process/kill/killGroup.ts";
import { killMarked } from "../../process/kill/killMarked.ts";
import { type ProcessResult, runProcess } from "../../process/runProcess.ts";
import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { commandOf } from "./commands.ts";
import type { SuiteDefinition } from "./definition.ts";
import { exitCodeResult, judge, type SuiteResults, withOutput } from "./judge.ts";
import { findPlaces, type SuitePlaces } from "./places.ts";
import { ReportFileProblem, removeReport } from "./reportFile.ts";
import type { SuiteCommand } from "./suiteCommand.ts";

export type { SuiteResults } from "./judge.ts";

export interface RunSuiteOptions {
  readonly worktree: string;
  /** The folder of the environment. It may be read-only. */
  readonly directory: string;
  /** A writable directory for this suite. */
  readonly scratch: string;
  readonly signal?: AbortSignal;
  /** For suites that declare no limit. */
  readonly timeoutMs: number;
  /** All env vars. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An env var of all processes that a suite starts: they are found by it when the suite has ended. */
const MARK = "SANDDUNE_SUITE";
const OUTPUT_BYTES = 64 * 1024;
const KILL_GRACE_MS = 300;

const nothing = (error: string): SuiteResults => ({ tests: [], error });

const environmentOf = (
  env: RunSuiteOptions["env"],
  { worktree, environment, scratch }: SuitePlaces,
): Record<string, string | undefined> => ({
  ...env,
  SANDDUNE_WORKTREE: worktree,
  SANDDUNE_ENVIRONMENT: environment,
  SANDDUNE_SCRATCH: scratch,
  NO_COLOR: "1",
  FORCE_COLOR: undefined,
  // This process may itself run in `node --test`: a runner would take itself for one of its test files.
  NODE_TEST_CONTEXT: undefined,
});

/** Runs the command of a suite, and ends all processes that it leaves behind. */
const perform = async (
  { program, args, startIn, env, source }: SuiteCommand,
  options: RunSuiteOptions & { readonly cwd: string },
  output: BoundedCapture,
): Promise<ProcessResult> => {
  const mark = { name: MARK, value: randomBytes(16).toString("hex") };
  let group: number | undefined;
  const onLine = source?.onLine;
  try {
    return await runProcess({
      program,
      args,
      cwd: startIn ?? options.cwd,
      env: { ...options.env, ...env, [mark.name]: mark.value },
      timeoutMs: options.timeoutMs,
      captureBytes: source?.captureBytes ?? OUTPUT_BYTES,
      ...(options.signal && { signal: options.signal }),
      onStart: (pid) => {
        group = pid;
      },
      ...(onLine === undefined
        ? { onStdoutChunk: (chunk) => output.push(chunk) }
        : { onStdoutLine: (line) => output.pushText(onLine(line)) }),
      onStderrChunk: (chunk) => output.push(chunk),
      ...(source?.onChannelLine && { onChannelLine: source.onChannelLine }),
    });
  } finally {
    if (group !== undefined) await killGroup(group, KILL_GRACE_MS);
    await killMarked(mark);
  }
};

const runIn = async (
  definition: SuiteDefinition,
  options: RunSuiteOptions,
  places: SuitePlaces & { readonly reports: string },
): Promise<SuiteResults> => {
  const env = environmentOf(options.env, places);
  const command = await commandOf(definition, { ...places, path: env["PATH"] }, env);
  if (typeof command === "string") return nothing(command);
  for (const [name, content] of Object.entries(command.files ?? {}))
    await writeFile(join(places.reports, name), content);
  const { title, source, reportFile, remedy } = command;
  const timeoutMs = definition.timeoutMs ?? options.timeoutMs;
  const roots = [places.worktree, places.scratch];
  const output = new BoundedCapture(OUTPUT_BYTES);
  const start = performance.now();
  try {
    if (reportFile !== undefined) await removeReport(reportFile, roots);
    const result = await perform(command, { ...options, timeoutMs, cwd: places.cwd, env }, output);
    const { exitCode, stdout, stderr, stdoutTruncated } = result;
    if (source === undefined) {
      const message = withOutput(`The command ended with exit code ${exitCode}.`, output.text());
      return exitCodeResult(exitCode === 0, performance.now() - start, message);
    }
    const report = await source.read({ stdout, stderr, isTruncated: stdoutTruncated });
    return judge(report, { ...command, exitCode, output: output.text() });
  } catch (error) {
    if (error instanceof ReportFileProblem) return nothing(error.message);
    if (error instanceof ProcessStartError) {
      return nothing(`${title} could not be started (${error.errorCode}). ${remedy}`);
    }
    if (!(error instanceof ProcessTimeoutError)) throw error;
    const words = `${title} took longer than ${timeoutMs} ms and was killed, with all processes that it had started. Raise \`timeoutMs\` of the suite if it needs more time.`;
    const message = withOutput(words, output.text());
    return source === undefined
      ? exitCodeResult(false, performance.now() - start, message)
      : nothing(message);
  } finally {
    if (reportFile !== undefined) await removeReport(reportFile, roots).catch(() => {});
  }
};

/** Resolves with results. Only an abort rejects, once all processes of the suite are killed. */
export const runSuite = async (
  definition: SuiteDefinition,
  options: RunSuiteOptions,
): Promise<SuiteResults> => {
  const places = await findPlaces(definition.cwd ?? ".", options);
  if (typeof places === "string") return nothing(places);
  const reports = await mkdtemp(join(places.scratch, "suite-"));
  try {
    return await runIn(definition, options, { ...places, reports });
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
};

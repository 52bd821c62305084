import * as Effect from "effect/Effect";
import { interruptible } from "../boundary/interruptible.ts";
import { ProcessTimeoutError, PromptExpansionError, type SandduneError } from "../errors.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { BoundedCapture } from "../tools/boundedCapture.ts";
import { withoutFinalLineEnds } from "../tools/finalLineEnds.ts";
import type { ResolvedPrompt, ShellExpression } from "./resolvePrompt.ts";

export interface ExpansionSettings {
  readonly sandbox: SandboxHandle;
  /** The directory in the sandbox where the expressions run. */
  readonly cwd: string;
  /** The limit for each expression. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Redacts the stderr of an expression. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** The output limit of each expression, far above what an agent can use. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Lines arrive without their line ends (`\n` or `\r\n`): at worst half of the output is not counted. */
const CAPTURE_BYTES = 2 * MAX_OUTPUT_BYTES;
const MAX_COMPLAINT_BYTES = 16 * 1024;
const CONCURRENCY = 16;

const evaluate = (
  { source, command }: ShellExpression,
  promptFile: string,
  { sandbox, cwd, timeoutMs = DEFAULT_TIMEOUT_MS, redactCaptured }: ExpansionSettings,
): Effect.Effect<string, SandduneError> => {
  const failure = (problem: string, stderr: string, exitCode?: number) =>
    new PromptExpansionError(
      source,
      promptFile,
      problem,
      exitCode,
      redactCaptured(stderr, MAX_COMPLAINT_BYTES),
    );
  const run = async (signal: AbortSignal) => {
    const tooLong = new AbortController();
    const complaints = new BoundedCapture(MAX_COMPLAINT_BYTES);
    let bytes = 0;
    let end: NodeJS.Immediate | undefined;
    const stop = () =>
      tooLong.abort(failure(`printed more than ${MAX_OUTPUT_BYTES} bytes`, complaints.text()));
    const result = await sandbox.exec(command, {
      cwd,
      timeoutMs,
      signal: AbortSignal.any([signal, tooLong.signal]),
      captureBytes: CAPTURE_BYTES,
      onStderrLine: (line) => complaints.pushText(`${line}\n`),
      onLine: (line) => {
        bytes += Buffer.byteLength(line) + 1;
        // Do not wait for an expression that never stops printing. What it complained of before may still have to be read.
        if (bytes > MAX_OUTPUT_BYTES) end ??= setImmediate(stop);
      },
    });
    clearImmediate(end);
    if (end !== undefined) stop();
    tooLong.signal.throwIfAborted();
    return result;
  };
  return interruptible(run).pipe(
    Effect.mapError((error) =>
      error instanceof ProcessTimeoutError
        ? failure(`took longer than ${timeoutMs} ms (see \`timeouts.promptExpansionMs\`)`, error.stderr)
        : error,
    ),
    Effect.flatMap(({ exitCode, stdout, stderr }) => {
      if (exitCode !== 0) return Effect.fail(failure(`ended with exit code ${exitCode}`, stderr, exitCode));
      if (stdout.includes("\0")) return Effect.fail(failure("printed binary data", stderr, exitCode));
      return Effect.succeed(withoutFinalLineEnds(stdout));
    }),
  );
};

/**
 * Runs the shell expressions of a prompt in the sandbox, in parallel, and replaces them by their output. The output
 * is plain text: it is not expanded again. The first failure stops the others.
 */
export const expandPrompt = (
  { promptFile = "the prompt", parts }: ResolvedPrompt,
  settings: ExpansionSettings,
): Effect.Effect<string, SandduneError> =>
  Effect.forEach(
    parts,
    (part) => (typeof part === "string" ? Effect.succeed(part) : evaluate(part, promptFile, settings)),
    { concurrency: CONCURRENCY },
  ).pipe(
    Effect.map((texts) => texts.join("")),
    Effect.flatMap((text) => {
      const [expression] = parts.filter((part) => typeof part !== "string");
      if (text.trim() !== "" || expression === undefined) return Effect.succeed(text);
      const problem = "printed nothing, and there is nothing else in the prompt";
      return Effect.fail(new PromptExpansionError(expression.source, promptFile, problem, 0, ""));
    }),
  );

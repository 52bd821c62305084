import * as Effect from "effect/Effect";
import { interruptible } from "../boundary/interruptible.ts";
import { ProcessTimeoutError, PromptExpansionError, type SandduneError } from "../errors.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { BoundedCapture } from "../tools/boundedCapture.ts";
import { withoutFinalLineEnds } from "../tools/finalLineEnds.ts";
import type { ResolvedPrompt, ShellExpression } from "./resolvePrompt.ts";

export interface ExpansionSettings {
  readonly sandbox: SandboxHandle;
  /** Where the expressions run, in the sandbox. */
  readonly cwd: string;
  /** Of each expression; 30 000 when it is left out. */
  readonly timeoutMs?: number | undefined;
  /** Takes secrets out of what an expression complains about. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Of each expression. Far above what an agent can make use of. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Lines arrive without their line ends, of which there are two kinds: at worst half of the output is not counted. */
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
    const result = await sandbox.exec(command, {
      cwd,
      timeoutMs,
      signal: AbortSignal.any([signal, tooLong.signal]),
      captureBytes: CAPTURE_BYTES,
      onStderrLine: (line) => complaints.pushText(`${line}\n`),
      onLine: (line) => {
        bytes += Buffer.byteLength(line) + 1;
        // One that never stops printing must not be waited for.
        if (bytes > MAX_OUTPUT_BYTES)
          tooLong.abort(failure(`printed more than ${MAX_OUTPUT_BYTES} bytes`, complaints.text()));
      },
    });
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
 * Runs the shell expressions of a prompt in the sandbox, side by side, and puts their output in their places. What they
 * print is text: nothing in it is looked at again. The first that fails stops the others.
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

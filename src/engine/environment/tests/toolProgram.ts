import { randomBytes } from "node:crypto";
import type { TestProgress } from "../../../environment/contract.ts";
import { openLine } from "../../../environment/tool/sealedLines.ts";
import { EnvironmentStartError, type SandduneError, TestRequestError } from "../../../errors.ts";
import type { ExecInput, ExecOptions, SandboxHandle } from "../../../sandboxes/contract.ts";
import { parseObject } from "../../../tools/json/parseJson.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import { LinkedController } from "../../../tools/wait/linkedController.ts";

/** The messages of the tool, one a line. */
export type ToolMessage =
  | { readonly type: "progress"; readonly message?: unknown; readonly progress?: TestProgress }
  | { readonly type: "alive" }
  | { readonly type: "waiting" }
  | { readonly type: "unpacked" }
  | { readonly type: "prepared" }
  | { readonly type: "ready"; readonly url?: unknown }
  | { readonly type: "result"; readonly result?: unknown }
  | { readonly type: "schema"; readonly schema?: unknown }
  | { readonly type: "request"; readonly id?: unknown; readonly request?: unknown }
  | { readonly type: "cancel"; readonly id?: unknown }
  | {
      readonly type: "failed";
      readonly message?: unknown;
      readonly log?: unknown;
      /** For a request that failed. */
      readonly status?: unknown;
      readonly paths?: unknown;
    };

/** Reads a message. `undefined` for anything else: tested code in the sandbox may have printed it. */
const readMessage = (key: string, line: string): ToolMessage | undefined => {
  const text = openLine(key, line);
  const value = text === undefined ? undefined : parseObject(text);
  return value !== undefined && "type" in value ? (value as ToolMessage) : undefined;
};

const NO_NODE = "the test server needs Node.js in the sandbox: install version 20.19 or newer in its image";
const NO_NODE_EXIT_CODE = 127;
/** Commits are unpacked with it, in this sandbox or in those that are made like it: that it is missing is to be known before an agent begins. */
const NO_TAR = "unpacking commits needs tar in the sandbox: install it in its image";
/** Not 125 or more: those also come from clients of sandboxes. */
const NO_TAR_EXIT_CODE = 99;

const CAPTURE_BYTES = 64 * 1024;

/** The part of a sandbox handle that runs the program for environments. */
export type CommandRunner = Pick<SandboxHandle, "exec">;

/** The program for environments, as it runs in a sandbox. */
export interface ToolRun extends Pick<ExecOptions, "env" | "stdin" | "timeoutMs" | "signal"> {
  readonly tool: string;
  readonly args: readonly string[];
  /** The longest time without output, after all of `stdin` was sent, before the program counts as stopped. */
  readonly maxSilenceMs?: number;
  readonly onMessage: (message: ToolMessage) => void;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const failureOf = ({ message, log, status, paths }: ToolMessage & { type: "failed" }): SandduneError =>
  typeof status === "number"
    ? new TestRequestError(textOf(message), status, Array.isArray(paths) ? paths.map(textOf) : [])
    : new EnvironmentStartError(textOf(message), textOf(log));

/** The key is not on the command line or in the environment, where other processes in the sandbox could read it. */
async function* keyThenInput(
  key: string,
  input: ExecInput | undefined,
  onEnd: () => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${key}\n`);
  if (typeof input === "string" || input instanceof Uint8Array) yield Buffer.from(input);
  else if (input !== undefined) yield* input;
  onEnd();
}

/** A signal that is aborted with another one, or after too long without output. */
const listenFor = (maxSilenceMs: number | undefined, other: AbortSignal | undefined) => {
  const controller = new LinkedController(other);
  const giveUp = () =>
    controller.abort(new EnvironmentStartError(`the tests printed nothing for ${maxSilenceMs} ms`));
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    begin: () => {
      if (maxSilenceMs !== undefined) timer = setTimeout(giveUp, maxSilenceMs);
    },
    heard: () => timer?.refresh(),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      controller[Symbol.dispose]();
    },
  };
};

/**
 * Runs the program for environments in a sandbox until it ends. Rejects with an `EnvironmentStartError` if it reports
 * a failure or ends with an exit code other than 0, and with a `TestRequestError` if the request was wrong.
 */
export const runTool = async (
  sandbox: CommandRunner,
  { tool, args, maxSilenceMs, onMessage, ...options }: ToolRun,
): Promise<void> => {
  const [command = "", ...others] = args;
  const program = ["node", "--no-warnings", tool, command, "--sealed", ...others].map(shellQuote).join(" ");
  const key = randomBytes(32).toString("hex");
  using listening = listenFor(maxSilenceMs, options.signal);
  let failure: SandduneError | undefined;
  const { exitCode, stdout, stderr } = await sandbox.exec(
    `command -v node >/dev/null 2>&1 || exit ${NO_NODE_EXIT_CODE}
command -v tar >/dev/null 2>&1 || exit ${NO_TAR_EXIT_CODE}
exec ${program}`,
    {
      ...options,
      stdin: keyThenInput(key, options.stdin, listening.begin),
      signal: listening.signal,
      captureBytes: CAPTURE_BYTES,
      onLine: (line) => {
        const message = readMessage(key, line);
        if (message !== undefined) listening.heard();
        if (message?.type === "failed") {
          failure ??= failureOf(message);
        } else if (message !== undefined) onMessage(message);
      },
    },
  );
  if (failure !== undefined) throw failure;
  if (exitCode === 0) return;
  if (exitCode === NO_NODE_EXIT_CODE) throw new EnvironmentStartError(NO_NODE);
  if (exitCode === NO_TAR_EXIT_CODE) throw new EnvironmentStartError(NO_TAR);
  throw new EnvironmentStartError(
    `the program for environments ended with exit code ${exitCode}`,
    `${stdout}\n${stderr}`.trim(),
  );
};

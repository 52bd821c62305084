import type { TestProgress } from "../../environment/contract.ts";
import { EnvironmentStartError, type SandduneError, TestRequestError } from "../../errors.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import type { ExecOptions, SandboxHandle } from "../../sandboxes/contract.ts";

/** What the tool says, a line each. */
export type ToolMessage =
  | { readonly type: "progress"; readonly message?: unknown; readonly progress?: TestProgress }
  | { readonly type: "ready"; readonly url?: unknown }
  | { readonly type: "result"; readonly result?: unknown }
  | { readonly type: "schema"; readonly schema?: unknown }
  | { readonly type: "request"; readonly id?: unknown; readonly request?: unknown }
  | { readonly type: "cancel"; readonly id?: unknown }
  | {
      readonly type: "failed";
      readonly message?: unknown;
      readonly log?: unknown;
      /** Of a request that cannot be done. */
      readonly status?: unknown;
      readonly paths?: unknown;
    };

/** `undefined` for anything else: whatever is in the sandbox may have printed it. */
const readMessage = (line: string): ToolMessage | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "type" in value
      ? (value as ToolMessage)
      : undefined;
  } catch {
    return undefined;
  }
};

const NO_NODE = JSON.stringify({
  type: "failed",
  message:
    "there is no Node.js in the sandbox, which the test server needs: install version 20.19 or newer in its image",
});

const CAPTURE_BYTES = 64 * 1024;

/** As much of a sandbox as it takes to run the program for environments. */
export type CommandRunner = Pick<SandboxHandle, "exec">;

/** The program for environments, as it runs in a sandbox. */
export interface ToolRun extends Pick<ExecOptions, "env" | "stdin" | "timeoutMs" | "signal"> {
  readonly tool: string;
  readonly args: readonly string[];
  readonly onMessage: (message: ToolMessage) => void;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const failureOf = ({ message, log, status, paths }: ToolMessage & { type: "failed" }): SandduneError =>
  typeof status === "number"
    ? new TestRequestError(textOf(message), status, Array.isArray(paths) ? paths.map(textOf) : [])
    : new EnvironmentStartError(textOf(message), textOf(log));

/**
 * Runs the program for environments in a sandbox, until it ends. Rejects with an `EnvironmentStartError` if it says that it
 * could not do its work, or ends with another exit code than 0; with a `TestRequestError` if that was the request's fault.
 */
export const runTool = async (
  sandbox: CommandRunner,
  { tool, args, onMessage, ...options }: ToolRun,
): Promise<void> => {
  const program = ["node", "--no-warnings", tool, ...args].map(shellQuote).join(" ");
  let failure: SandduneError | undefined;
  const { exitCode, stdout, stderr } = await sandbox.exec(
    `command -v node >/dev/null 2>&1 || { printf '%s\\n' ${shellQuote(NO_NODE)}; exit 1; }\nexec ${program}`,
    {
      ...options,
      captureBytes: CAPTURE_BYTES,
      onLine: (line) => {
        const message = readMessage(line);
        if (message?.type === "failed") {
          failure ??= failureOf(message);
        } else if (message !== undefined) onMessage(message);
      },
    },
  );
  if (failure !== undefined) throw failure;
  if (exitCode === 0) return;
  throw new EnvironmentStartError(
    `the program for environments ended with exit code ${exitCode}`,
    `${stdout}\n${stderr}`.trim(),
  );
};

import { EnvValueError, ProcessTimeoutError } from "../errors.ts";
import type { EnvValue } from "../options/envVars.ts";
import { runProcess } from "../process/runProcess.ts";
import { redactData } from "../redaction/redactData.ts";
import { Redactor } from "../redaction/redactor.ts";
import { withoutFinalLineEnds } from "../tools/finalLineEnds.ts";
import { orAborted } from "../tools/wait/onAbort.ts";

/** The env vars of a run, with their values. */
export interface ResolvedEnv {
  readonly values: Readonly<Record<string, string>>;
  /** The secret values, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

const COMMAND_TIMEOUT_MS = 60_000;
/** Linux limits an env var to 128 KiB: no command can start with a longer one. */
const MAX_VALUE_BYTES = 120 * 1024;

const ask = async (name: string, question: () => string | Promise<string>, signal: AbortSignal) => {
  try {
    return await orAborted((async () => question())(), signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new EnvValueError(name, `its function threw: ${String(cause)}`, "", { cause });
  }
};

const runCommand = async (
  name: string,
  { command, timeoutMs = COMMAND_TIMEOUT_MS }: { readonly command: string; readonly timeoutMs?: number },
  signal: AbortSignal,
): Promise<string> => {
  const { exitCode, stdout, stderr } = await runProcess({
    program: "sh",
    args: ["-c", command],
    timeoutMs,
    signal,
  }).catch((error: unknown) => {
    if (!(error instanceof ProcessTimeoutError)) throw error;
    throw new EnvValueError(name, `its command took longer than ${timeoutMs} ms`, error.stderr);
  });
  if (exitCode !== 0) throw new EnvValueError(name, `its command ended with exit code ${exitCode}`, stderr);
  const value = withoutFinalLineEnds(stdout);
  if (value === "") throw new EnvValueError(name, "its command printed nothing", stderr);
  return value;
};

const readValue = (name: string, source: EnvValue, signal: AbortSignal): string | Promise<string> => {
  if (typeof source === "string") return source;
  if (typeof source === "function") return ask(name, source, signal);
  return "public" in source ? source.public : runCommand(name, source, signal);
};

const checkValue = (name: string, value: unknown): string => {
  if (typeof value !== "string") throw new EnvValueError(name, "its function did not return a string");
  if (value.includes("\0")) throw new EnvValueError(name, "its value contains a NUL character");
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw new EnvValueError(name, `its value is longer than ${MAX_VALUE_BYTES} bytes: pass it as a file`);
  }
  return value;
};

const isPublic = (source: EnvValue | undefined): boolean => typeof source === "object" && "public" in source;

/** The first failure stops the others. Its `EnvValueError` names the key and contains no other value. */
export const readEnvValues = async (
  sources: ReadonlyMap<string, EnvValue>,
  signal: AbortSignal,
): Promise<ResolvedEnv> => {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const values: Record<string, string> = {};
  await Promise.all(
    [...sources].map(async ([name, source]) => {
      try {
        values[name] = checkValue(name, await readValue(name, source, either));
      } catch (error) {
        failed.abort(error);
      }
    }),
  );
  const secrets = new Map(Object.entries(values).filter(([name]) => !isPublic(sources.get(name))));
  if (failed.signal.aborted) throw redactData(new Redactor(secrets), failed.signal.reason);
  return { values, secrets };
};

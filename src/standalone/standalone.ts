import { CallersCode } from "../boundary/callersCode.ts";
import { entryPoint } from "../boundary/callersStack.ts";
import type { ResolvedEnv } from "../envVars/envValues.ts";
import { InvalidOptionsError, SandboxLostError } from "../errors.ts";
import type { CommandEnv } from "../options/envVars.ts";
import type { SandboxCommandOptions, StandaloneSandbox } from "../options/standaloneSandbox.ts";
import { redactData } from "../redaction/redactData.ts";
import { Redactor } from "../redaction/redactor.ts";
import type { ExecOptions } from "../sandboxes/contract.ts";
import type { OwnedDirectory } from "../sandboxes/directories/ownedDirectory.ts";
import { providerError } from "../sandboxes/handle/openHandle.ts";
import { commandResult } from "./commandResult.ts";
import { endWithProcess } from "./endWithProcess.ts";
import type { ProviderSandbox } from "./openProviderSandbox.ts";
import { readFile, readFileBytes, writeFile } from "./sandboxFiles.ts";
import { sandboxPath } from "./sandboxPath.ts";
import { validateCommand, validateContent } from "./validate.ts";

export interface StandaloneSettings {
  readonly provider: string;
  readonly sandbox: ProviderSandbox;
  readonly directory: OwnedDirectory;
  readonly env: ResolvedEnv;
  readonly usesSudo: boolean;
}

const secretsIn = (env: CommandEnv): Map<string, string> =>
  new Map(Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === "string"));

const valuesOf = (env: CommandEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, typeof value === "string" ? value : value.public]),
  );

/** The object that `createStandaloneSandbox()` returns. */
export const standalone = ({
  provider,
  sandbox,
  directory,
  env,
  usesSudo,
}: StandaloneSettings): StandaloneSandbox => {
  const { handle } = sandbox;
  const start = handle.worktreePath;
  let terminated: Promise<void> | undefined;

  /** Runs an operation of the sandbox. Rejects with a `SandduneError` without secrets. */
  const perform = async <A>(
    what: string,
    body: () => Promise<A>,
    rethrowCallers: (reason: unknown) => void = () => {},
    secrets: ReadonlyMap<string, string> = new Map(),
  ): Promise<A> => {
    if (terminated !== undefined) throw new SandboxLostError(provider, "it was terminated");
    try {
      return await body();
    } catch (reason) {
      rethrowCallers(reason);
      const redactor = new Redactor(new Map([...env.secrets, ...secrets]));
      throw redactData(redactor, providerError(provider, `${what} failed`)(reason));
    }
  };

  const run = async (command: string, options: SandboxCommandOptions = {}) => {
    validateCommand(command, options);
    const { cwd, env: own = {}, stdin, onLine, onStderrLine, sudo = false, signal, ...others } = options;
    if (sudo && !usesSudo) {
      throw new InvalidOptionsError(
        "sudo",
        "the sandbox does not support it: pass `usesSudo: true` to createStandaloneSandbox()",
      );
    }
    const callers = new CallersCode();
    const guarded = (callback: (line: string) => void) => (line: string) =>
      callers.call(() => callback(line));
    const execOptions: ExecOptions = {
      ...others,
      sudo,
      env: { ...env.values, ...valuesOf(own) },
      ...(cwd !== undefined && { cwd: sandboxPath(start, cwd, "cwd") }),
      ...(signal && { signal }),
      ...(stdin !== undefined && { stdin: callers.input(stdin) }),
      ...(onLine && { onLine: guarded(onLine) }),
      ...(onStderrLine && { onStderrLine: guarded(onStderrLine) }),
    };
    const rethrowCallers = (reason: unknown) => {
      if (callers.failure !== undefined) throw callers.failure.reason;
      if (signal?.aborted && reason === signal.reason) throw reason;
    };
    const startedAt = performance.now();
    const result = await perform(
      "run",
      () => handle.exec(command, execOptions),
      rethrowCallers,
      secretsIn(own),
    );
    return commandResult(result, Math.round(performance.now() - startedAt));
  };

  const cancel = endWithProcess(() => terminate());
  const end = async () => {
    cancel();
    try {
      await sandbox.close();
      await directory.remove();
    } catch (reason) {
      throw providerError(provider, "it was not removed completely")(reason);
    }
  };
  const terminate = () => {
    terminated ??= end();
    return terminated;
  };

  const files = {
    provider,
    exec: (command: string, options: ExecOptions) => handle.exec(command, options),
  };
  return {
    name: handle.name,
    directory: start,
    run: entryPoint(run),
    writeFile: entryPoint(async (path: string, content: string | Uint8Array) => {
      validateContent(content);
      const target = sandboxPath(start, path);
      await perform("writeFile", () => writeFile(files, target, content));
    }),
    readFile: entryPoint(async (path: string) => {
      const source = sandboxPath(start, path);
      return perform("readFile", () => readFile(files, source));
    }),
    readFileBytes: entryPoint(async (path: string) => {
      const source = sandboxPath(start, path);
      return perform("readFileBytes", () => readFileBytes(files, source));
    }),
    copyIn: entryPoint(async (hostPath: string, path: string) => {
      const target = sandboxPath(start, path);
      await perform("copyIn", () => sandbox.copyIn(hostPath, target));
    }),
    copyFileOut: entryPoint(async (path: string, hostPath: string) => {
      const source = sandboxPath(start, path);
      await perform("copyFileOut", () => handle.copyFileOut(source, hostPath));
    }),
    terminate,
    [Symbol.asyncDispose]: terminate,
  };
};

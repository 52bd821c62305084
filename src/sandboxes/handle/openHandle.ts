import { SandboxError, SandduneError } from "../../errors.ts";
import type { SandboxHandle } from "../contract.ts";
import { answerProblem, handleProblem, type ProviderType } from "./contractProblems.ts";

/** Names a sandbox provider in errors, and says which kind of handle it makes. */
interface Provider {
  readonly name: string;
  readonly type: ProviderType;
}

type Operation = (...args: unknown[]) => Promise<unknown>;

/** Wraps one operation of a handle: `exec`, `close` and so on. */
type Layer = (provider: string, operation: string, perform: Operation) => Operation;

/** A provider is third-party code: any error that is not ours becomes one that names the provider. */
export const providerError =
  (provider: string, problem: string) =>
  (reason: unknown): SandduneError =>
    reason instanceof SandduneError
      ? reason
      : new SandboxError(provider, problem, String(reason), { cause: reason });

const withCheckedAnswers: Layer =
  (provider, operation, perform) =>
  async (...args) => {
    const answer = await perform(...args);
    const problem = answerProblem(operation, answer);
    if (problem !== undefined) throw new SandboxError(provider, problem);
    return answer;
  };

/** The signal of `exec`, `interactiveExec` and `snapshot`, in their last argument: aborting it must reject with its own reason. */
const signalIn = (args: readonly unknown[]): AbortSignal | undefined =>
  (args.at(-1) as { readonly signal?: AbortSignal } | undefined)?.signal;

const withOwnErrors: Layer =
  (provider, operation, perform) =>
  async (...args) => {
    try {
      return await perform(...args);
    } catch (reason) {
      const signal = signalIn(args);
      if (signal?.aborted && reason === signal.reason) throw reason;
      throw providerError(provider, `${operation} failed`)(reason);
    }
  };

/**
 * The layers around a provider's operations, from the inside out. The order matters: a wrong answer must become an error
 * before errors are translated, so that every failure names the provider.
 *
 * Commands of a run get more layers, which are the engine's: the readiness check of git and the packing of commits
 * (`git/transfer/export/piggybackOnExec.ts`), and outermost the env vars (`handleWithEnv.ts`). The handle below them has no env vars,
 * so sanddune's own commands never see the user's secrets.
 */
const LAYERS: readonly Layer[] = [withCheckedAnswers, withOwnErrors];

/** A new object instead of a proxy of the handle itself, whose members could not be replaced if it is frozen. */
const layered = <Handle extends SandboxHandle>(provider: string, handle: Handle): Handle =>
  new Proxy<Handle>(Object.create(handle), {
    get: (_, key) => {
      const member: unknown = Reflect.get(handle, key);
      if (typeof member !== "function") return member;
      const operation: Operation = member.bind(handle);
      return LAYERS.reduce((inner, layer) => layer(provider, String(key), inner), operation);
    },
  });

/** A handle that lacks an operation is closed, as far as that is possible. */
const closeUnusable = async (handle: unknown): Promise<void> => {
  await (handle as Partial<SandboxHandle> | null | undefined)?.close?.();
};

/**
 * Opens a sandbox: the only way from a provider's `create()` to a handle that the rest of sanddune uses. It checks that
 * the handle is complete, then adds the layers above. Rejects with a `SandduneError`, or with `signal.reason`.
 */
export const openHandle = async <Handle extends SandboxHandle>(
  { name, type }: Provider,
  create: () => Promise<Handle>,
  signal?: AbortSignal,
): Promise<Handle> => {
  let handle: Handle;
  try {
    handle = await create();
  } catch (reason) {
    signal?.throwIfAborted();
    throw providerError(name, "it could not be created")(reason);
  }
  const problem = handleProblem(handle, type);
  if (problem === undefined) return layered(name, handle);
  await closeUnusable(handle).catch(() => {});
  signal?.throwIfAborted();
  throw new SandboxError(name, problem);
};

import { SandboxError, SandduneError } from "../../errors.ts";
import type { SandboxHandle } from "../contract.ts";
import { answerProblem, handleProblem, type ProviderType } from "./contractProblems.ts";

/** Names a sandbox provider in errors, and says which kind of handle it makes. */
interface Provider {
  readonly name: string;
  readonly type: ProviderType;
}

type Operation = (...args: unknown[]) => Promise<unknown>;

/** Providers are other people's code: whatever they throw becomes an error that says where it came from. */
export const providerError =
  (provider: string, problem: string) =>
  (reason: unknown): SandduneError =>
    reason instanceof SandduneError
      ? reason
      : new SandboxError(provider, problem, String(reason), { cause: reason });

/** A handle with something around each of its operations. A proxy of the handle itself could not replace those of a frozen one. */
const around = <Handle extends SandboxHandle>(
  handle: Handle,
  wrap: (name: string, operation: Operation) => Operation,
): Handle =>
  new Proxy<Handle>(Object.create(handle), {
    get: (_, key) => {
      const member: unknown = Reflect.get(handle, key);
      return typeof member === "function" ? wrap(String(key), member.bind(handle)) : member;
    },
  });

/** A sandbox without an operation that is needed is of no use: it is closed, if it can be. */
const closeUnusable = async (handle: unknown): Promise<void> => {
  await (handle as Partial<SandboxHandle> | null | undefined)?.close?.();
};

/** The sandbox handle that a provider creates. A `SandboxError` tells where it, or an answer of it, breaks the contract. */
export const checkedHandle = async <Handle extends SandboxHandle>(
  created: Promise<Handle>,
  { name: provider, type }: Provider,
): Promise<Handle> => {
  const handle = await created;
  const problem = handleProblem(handle, type);
  if (problem !== undefined) {
    await closeUnusable(handle).catch(() => {});
    throw new SandboxError(provider, problem);
  }
  return around(handle, (name, operation) => async (...args) => {
    const answer = await operation(...args);
    const wrong = answerProblem(name, answer);
    if (wrong !== undefined) throw new SandboxError(provider, wrong);
    return answer;
  });
};

/** The same, whose operations fail with nothing but our own errors. */
export const guardedHandle = async <Handle extends SandboxHandle>(
  created: Promise<Handle>,
  provider: Provider,
): Promise<Handle> =>
  around(await checkedHandle(created, provider), (name, operation) => async (...args) => {
    try {
      return await operation(...args);
    } catch (reason) {
      throw providerError(provider.name, `${name} failed`)(reason);
    }
  });

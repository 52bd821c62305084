import { SandboxError, SandduneError } from "../errors.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";

/** Providers are other people's code: whatever they throw becomes an error that says where it came from. */
export const providerError =
  (provider: string, problem: string) =>
  (reason: unknown): SandduneError =>
    reason instanceof SandduneError
      ? reason
      : new SandboxError(provider, problem, String(reason), { cause: reason });

/** A sandbox handle whose operations fail with nothing but our own errors. */
export const guardedHandle = <Handle extends SandboxHandle>(handle: Handle, provider: string): Handle =>
  new Proxy(handle, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        try {
          return await member.apply(target, args);
        } catch (reason) {
          throw providerError(provider, `${String(key)} failed`)(reason);
        }
      };
    },
  });

import { SandduneError } from "../errors.ts";
import { isDebugging } from "./isDebugging.ts";

/** The place in the caller's program that called an entry point. */
export interface Caller {
  readonly stack?: string;
}

type Entry = (...args: never[]) => unknown;

/** Captures the stack while the caller is on it, without `entry` and the frames below it. */
export const callerOf = (entry: Entry): Caller => {
  const caller: Caller = {};
  Error.captureStackTrace(caller, entry);
  return caller;
};

const framesOf = ({ stack = "" }: Caller): string[] =>
  stack.split("\n").filter((line) => line.startsWith("    at "));

/**
 * Errors are created when the caller's frames have left the stack: their own stacks show fibers of Effect and no line of
 * the caller's program. Those frames are only shown for debugging sanddune itself.
 */
const nameCaller = (error: SandduneError, caller: Caller): void => {
  const frames = framesOf(caller);
  if (frames.length === 0 || !Object.isExtensible(error)) return;
  const inside = isDebugging() ? framesOf(error) : [];
  // Node.js quotes the line that created an uncaught error, which would be one of sanddune.
  Error.captureStackTrace(error, nameCaller);
  Object.defineProperty(error, "stack", {
    value: [`${error.name}: ${error.message}`, ...frames, ...inside].join("\n"),
    configurable: true,
    writable: true,
  });
};

/** Puts the caller's stack into the errors of `body`. The caller's own errors stay as they are. */
export const namingCaller = async <A>(caller: Caller, body: () => Promise<A>): Promise<A> => {
  try {
    return await body();
  } catch (error) {
    if (error instanceof SandduneError) nameCaller(error, caller);
    throw error;
  }
};

/** The same function; the stacks of its errors show its caller. */
export const entryPoint = <Args extends unknown[], A>(
  call: (...args: Args) => Promise<A>,
): ((...args: Args) => Promise<A>) => {
  const entry = (...args: Args): Promise<A> => namingCaller(callerOf(entry), () => call(...args));
  return entry;
};

import { SandduneError } from "../errors.ts";
import { isDebugging } from "./isDebugging.ts";

/** Where the caller's program has called an entry point. */
export interface Caller {
  readonly stack?: string;
}

type Entry = (...args: never[]) => unknown;

/** Takes the stack while the caller is on it. `entry` and what it has called are left out. */
export const callerOf = (entry: Entry): Caller => {
  const caller: Caller = {};
  Error.captureStackTrace(caller, entry);
  return caller;
};

const framesOf = ({ stack = "" }: Caller): string[] =>
  stack.split("\n").filter((line) => line.startsWith("    at "));

/**
 * Errors are made when the caller's frames are gone from the stack: theirs would name the fibers of Effect and nothing that
 * the caller has written. Those frames are shown when sanddune itself is debugged.
 */
const nameCaller = (error: SandduneError, caller: Caller): void => {
  const frames = framesOf(caller);
  if (frames.length === 0 || !Object.isExtensible(error)) return;
  const inside = isDebugging() ? framesOf(error) : [];
  // Node.js quotes the line of code that made an uncaught error: that would be a line of ours.
  Error.captureStackTrace(error, nameCaller);
  Object.defineProperty(error, "stack", {
    value: [`${error.name}: ${error.message}`, ...frames, ...inside].join("\n"),
    configurable: true,
    writable: true,
  });
};

/** Lets the errors of `body` name the program that has called. The caller's own errors stay as they are. */
export const namingCaller = async <A>(caller: Caller, body: () => Promise<A>): Promise<A> => {
  try {
    return await body();
  } catch (error) {
    if (error instanceof SandduneError) nameCaller(error, caller);
    throw error;
  }
};

/** The same function, whose errors name the program that has called it. */
export const entryPoint = <Args extends unknown[], A>(
  call: (...args: Args) => Promise<A>,
): ((...args: Args) => Promise<A>) => {
  const entry = (...args: Args): Promise<A> => namingCaller(callerOf(entry), () => call(...args));
  return entry;
};

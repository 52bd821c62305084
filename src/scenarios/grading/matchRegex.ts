import { createContext, Script } from "node:vm";
import { Worker } from "node:worker_threads";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import { MAX_REDACTED_CHARACTERS } from "./finding.ts";

/** The position of a match, with the beginning of the matched text. */
export interface RegexMatch {
  readonly index: number;
  readonly start: string;
}

const SEARCH = `(() => {
  const found = new RegExp(regex).exec(text);
  return found && { index: found.index, start: found[0].slice(0, ${MAX_REDACTED_CHARACTERS}) };
})()`;

const SEARCH_SCRIPT = new Script(SEARCH);

const SEARCH_IN_THREAD = `
const { parentPort, workerData: { regex, text } } = require("node:worker_threads");
parentPort.postMessage(${SEARCH});`;

/** Nearly every search takes less, and starting a thread takes longer. Blocks the event loop. */
const QUICK_SEARCH_MS = 20;

const isTimeout = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

const searchInThread = (regex: string, text: string, signal: AbortSignal): Promise<RegexMatch | null> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(SEARCH_IN_THREAD, {
      eval: true,
      workerData: { regex, text },
      env: {},
      execArgv: [],
    });
    const stopWaiting = onAbort(signal, (reason) => {
      void worker.terminate();
      reject(reason);
    });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => {
      stopWaiting();
      reject(new Error("the search ended without a result"));
    });
  });

/**
 * Searches a text for a JavaScript regular expression. Rejects after `limitMs` if the expression backtracks without
 * end, and does not block other executions meanwhile.
 */
export const matchRegex = async (
  regex: string,
  text: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<RegexMatch | null> => {
  try {
    return SEARCH_SCRIPT.runInContext(createContext({ regex, text }), { timeout: QUICK_SEARCH_MS });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  return withTimeLimit(limitMs, signal, (limit) => searchInThread(regex, text, limit));
};

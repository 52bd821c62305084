import { writeSafely } from "../writeSafely.ts";

/** The device status request, which every terminal answers, and its answer. */
const QUESTION = "\u001b[5n";
const ANSWER = "\u001b[0n";
/** For a terminal that does not answer. */
const PATIENCE_MS = 300;

const listen = (): Promise<void> =>
  new Promise((resolve) => {
    let heard = "";
    const finish = () => {
      clearTimeout(timer);
      process.stdin.off("data", onData);
      resolve();
    };
    const onData = (chunk: Buffer) => {
      heard = (heard + chunk.toString("latin1")).slice(-1000);
      if (heard.endsWith(ANSWER)) finish();
    };
    const timer = setTimeout(finish, PATIENCE_MS);
    process.stdin.on("data", onData);
    process.stdin.resume();
    writeSafely(process.stdout, QUESTION);
  });

/**
 * Reads the terminal's pending answers to requests of a program that has ended: the next reader, such as a shell, would take
 * them for typed keys. The answer to a request of our own comes after all of them.
 */
export const swallowAnswers = async (): Promise<void> => {
  try {
    process.stdin.setRawMode(true);
    await listen();
  } catch {
    // The terminal is gone.
  } finally {
    process.stdin.pause();
    try {
      process.stdin.setRawMode(false);
    } catch {}
  }
};

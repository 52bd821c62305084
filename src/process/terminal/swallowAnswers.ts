import { writeSafely } from "../writeSafely.ts";

/** "How are you?", which every terminal answers, and "well". */
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
 * Reads what the terminal has still to say to questions of a program that is gone: whoever reads next, a shell for one,
 * would take it for typed. A question of our own comes after all of them, and so does its answer.
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

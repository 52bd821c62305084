import { createInterface } from "node:readline";
import { CancelledError } from "../errors.ts";
import { onAbort } from "../tools/wait/onAbort.ts";
import { neutralise } from "./neutralise.ts";
import { holdScreen } from "./screen.ts";

/** Asks a question and resolves with the typed line. */
export type Ask = (question: string) => Promise<string>;

/**
 * Asks the person at the terminal. Lines that are typed ahead or pasted answer the next questions. Rejects with a
 * `CancelledError` after Ctrl-C or Ctrl-D, and with `signal.reason` after an abort.
 */
export const atTerminal = async <A>(signal: AbortSignal, body: (ask: Ask) => Promise<A>): Promise<A> => {
  signal.throwIfAborted();
  // Otherwise another session's status line would overwrite the question.
  const showScreen = holdScreen();
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const lines: string[] = [];
  let question = "";
  let answer: ((line: string) => void) | undefined;
  let stopWaiting = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new CancelledError(question));
    terminal.once("SIGINT", giveUp);
    terminal.once("close", giveUp);
    stopWaiting = onAbort(signal, reject);
  });
  terminal.on("line", (line) => {
    if (answer === undefined) lines.push(line);
    else answer(line);
    answer = undefined;
  });
  const ask: Ask = (text) => {
    question = text;
    const [last = "", ...before] = neutralise(text).split("\n").reverse();
    for (const line of before.reverse()) process.stdout.write(`${line}\n`);
    terminal.setPrompt(`${last} `);
    terminal.prompt();
    const typed = new Promise<string>((resolve) => {
      const early = lines.shift();
      if (early === undefined) answer = resolve;
      else resolve(early);
    });
    return Promise.race([typed, givenUp]);
  };
  try {
    return await Promise.race([body(ask), givenUp]);
  } finally {
    // The caller no longer waits for it.
    givenUp.catch(() => {});
    stopWaiting();
    terminal.close();
    showScreen();
  }
};

/** Asks until there is an answer that is not empty. */
export const askForText = async (ask: Ask, question: string): Promise<string> => {
  for (;;) {
    const answer = await ask(question);
    if (answer !== "") return answer;
  }
};

/** Asks for a yes. Any other answer is a no. */
export const askForYes = async (ask: Ask, question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(`${question} [y/N]`)).trim());

import { AsyncLocalStorage } from "node:async_hooks";
import type { Turns } from "./turns.ts";

/** A call in its turn, or a function of the caller's that such a call waits for. Over when that has ended. */
interface Moment {
  readonly turns: Turns;
  isOver: boolean;
}

const calls = new AsyncLocalStorage<Moment>();
const questions = new AsyncLocalStorage<Moment>();

const during = async <A>(
  storage: AsyncLocalStorage<Moment>,
  turns: Turns,
  body: () => Promise<A>,
): Promise<A> => {
  const moment: Moment = { turns, isOver: false };
  try {
    return await storage.run(moment, body);
  } finally {
    moment.isOver = true;
  }
};

/** Makes a call in its turn. */
export const inTurn = <A>(turns: Turns, body: () => Promise<A>): Promise<A> => during(calls, turns, body);

/** Asks a function of the caller's for something, and waits for it. */
export const askingCaller = <A>(body: () => Promise<A>): Promise<A> => {
  const call = calls.getStore();
  return call === undefined || call.isOver ? body() : during(questions, call.turns, body);
};

/** The turns that wait, in a call, for the very function that asks this. */
export const waitingTurns = (): Turns | undefined => {
  const question = questions.getStore();
  return question === undefined || question.isOver ? undefined : question.turns;
};

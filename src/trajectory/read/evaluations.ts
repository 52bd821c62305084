import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { atHostFile } from "../../errors/hostFile.ts";
import { checkEvaluation, type Evaluation } from "./checkEntry.ts";
import { readJsonLines } from "./jsonLines.ts";

export type { Evaluation } from "./checkEntry.ts";

const evaluationsPath = (runDirectory: string): string => join(runDirectory, "evaluations.jsonl");

/** The evaluations of a run's commits, the oldest first. */
export const readEvaluations = (runDirectory: string): Evaluation[] =>
  readJsonLines(evaluationsPath(runDirectory), checkEvaluation) ?? [];

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** Whether the last line of a file is incomplete, as after a crash. */
const isTorn = (file: number): boolean => {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last.toString() !== "\n";
};

/** Starts a new line if the last one is incomplete. */
export const addEvaluation = (runDirectory: string, evaluation: Omit<Evaluation, "at">): void => {
  const path = evaluationsPath(runDirectory);
  atHostFile(path, () => {
    const file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
    try {
      const line = JSON.stringify({ at: new Date().toISOString(), ...evaluation });
      writeSync(file, `${isTorn(file) ? "\n" : ""}${line}\n`);
    } finally {
      closeSync(file);
    }
  });
};

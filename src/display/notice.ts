import { neutralise } from "./neutralise.ts";
import { printAboveStatus } from "./screen.ts";
import { whenFree } from "./terminal/holdOutput.ts";

/** The prefix for each line of a run with a name. */
export const namePrefix = (name: string | undefined): string =>
  name === undefined ? "" : `[${neutralise(name)}] `;

/** Prints a sentence without a display. To stderr, because stdout belongs to the calling program. */
export const printNotice = (name: string | undefined, sentence: string): void =>
  whenFree(() => {
    const line = `${namePrefix(name)}${neutralise(sentence)}`;
    // On a terminal with status lines, print above them.
    if (!printAboveStatus(line)) console.error(line);
  });

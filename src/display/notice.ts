import { neutralise } from "./neutralise.ts";
import { whenFree } from "./screen.ts";

/** What stands before every line that is shown of a run with a name. */
export const namePrefix = (name: string | undefined): string =>
  name === undefined ? "" : `[${neutralise(name)}] `;

/** Tells people something outside of a display. To stderr: the standard output belongs to the program that calls. */
export const printNotice = (name: string | undefined, sentence: string): void =>
  whenFree(() => console.error(`${namePrefix(name)}${neutralise(sentence)}`));

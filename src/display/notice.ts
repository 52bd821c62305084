import { neutralise } from "./neutralise.ts";
import { printAboveStatus } from "./screen.ts";
import { whenFree } from "./terminal/holdOutput.ts";

/** What stands before every line that is shown of a run with a name. */
export const namePrefix = (name: string | undefined): string =>
  name === undefined ? "" : `[${neutralise(name)}] `;

/** Tells people something outside of a display. To stderr: the standard output belongs to the program that calls. */
export const printNotice = (name: string | undefined, sentence: string): void =>
  whenFree(() => {
    const line = `${namePrefix(name)}${neutralise(sentence)}`;
    // Beside status lines on the same terminal, past them would be into them.
    if (!printAboveStatus(line)) console.error(line);
  });

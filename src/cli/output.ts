import { neutralise } from "../display/neutralise.ts";
import { printAboveStatus } from "../display/screen.ts";

/** A reader that has gone (`| head`, a closed terminal) is no reason to fail: what was to be done is done. */
export const surviveClosedStreams = (): void => {
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
};

const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
  new Promise((resolve) => stream.write(text, () => resolve()));

/** For people. Much of it is the agent's words, which must not steer the terminal. */
export const tell = async (text: string): Promise<void> => {
  const shown = neutralise(text);
  // Beside a run that shows itself on this terminal, past its status lines would be into them.
  if (!printAboveStatus(shown)) await write(process.stderr, `${shown}\n`);
};

/** The result, for people. */
export const print = (text: string): Promise<void> => write(process.stdout, `${neutralise(text)}\n`);

/** The result, for programs: one object on one line. */
export const printJson = (value: unknown): Promise<void> =>
  write(process.stdout, `${JSON.stringify(value)}\n`);

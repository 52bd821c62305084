import { neutralise } from "../../display/neutralise.ts";
import { printAboveStatus } from "../../display/screen.ts";

/** A reader that has gone (`| head`, a closed terminal) is no reason to fail: what was to be done is done. */
export const surviveClosedStreams = (): void => {
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
};

/** How wide the terminal is; `undefined` where there is none, or one that does not know. */
export const terminalColumns = (): number | undefined => process.stdout.columns || undefined;

/** Resolves with whether it was written. A standard stream whose reader has gone calls itself writable all the same. */
const attempt = (stream: NodeJS.WriteStream, text: string): Promise<boolean> =>
  new Promise((resolve) => stream.write(text, (error) => resolve(error == null)));

const write = async (stream: NodeJS.WriteStream, text: string): Promise<void> => {
  await attempt(stream, text);
};

/** For people. Much of it is the agent's words, which must not steer the terminal. */
export const tell = async (text: string): Promise<void> => {
  const shown = neutralise(text);
  // Beside a run that shows itself on this terminal, past its status lines would be into them.
  if (!printAboveStatus(shown)) await write(process.stderr, `${shown}\n`);
};

/** The result, for people. */
export const print = (text: string): Promise<void> => write(process.stdout, `${neutralise(text)}\n`);

/** A piece of the result, for people. Resolves with whether the reader still accepts more. */
export const printPiece = (text: string): Promise<boolean> => attempt(process.stdout, neutralise(text));

/** The result, for programs: one object on one line. */
export const printJson = (value: unknown): Promise<void> =>
  write(process.stdout, `${JSON.stringify(value)}\n`);

import { oneLine } from "../../tools/shorten.ts";

/** Of an output that may have any length. */
const MAX_LOOKED_AT = 4000;

/** Says that it failed, and not yet why. */
const BARE_EXIT_CODE = /^(error: )?(exit|exited with) code:? \d+\.?$/i;

/** The first line of what a tool answered; of a failed command also what it printed first. */
export const firstWords = (output: string): string => {
  const [first = "", second] = output
    .slice(0, MAX_LOOKED_AT)
    .split("\n")
    .map(oneLine)
    .filter((line) => line !== "");
  return second !== undefined && BARE_EXIT_CODE.test(first)
    ? `${first.replace(/\.$/, "")}: ${second}`
    : first;
};

/** More are not at work at a time. */
const MAX_CALLS = 100;

/** Names of the tools that have been called and have not answered. */
export class OpenCalls {
  readonly #names = new Map<string, string>();

  begin(id: string | undefined, name: string): void {
    if (id === undefined) return;
    if (this.#names.size >= MAX_CALLS) this.#names.clear();
    this.#names.set(id, name);
  }

  /** The name of the tool that has answered, where it is not plain: others are at work beside it. */
  end(id: string | undefined): string | undefined {
    const name = id === undefined ? undefined : this.#names.get(id);
    if (id !== undefined) this.#names.delete(id);
    return this.#names.size === 0 ? undefined : name;
  }
}

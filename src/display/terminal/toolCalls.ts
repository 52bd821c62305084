import { oneLine } from "../../tools/shorten.ts";

/** The limit for the part of an output that is read. */
const MAX_LOOKED_AT = 4000;

/** An output that has only an exit code, and not the reason. */
const BARE_EXIT_CODE = /^(error: )?(exit|exited with) code:? \d+\.?$/i;

/** The first line of a tool's output. For a failed command, also the first line that it printed. */
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

/** The limit for parallel calls. */
const MAX_CALLS = 100;

/** The names of tools that have not answered yet. */
export class OpenCalls {
  readonly #names = new Map<string, string>();

  begin(id: string | undefined, name: string): void {
    if (id === undefined) return;
    if (this.#names.size >= MAX_CALLS) this.#names.clear();
    this.#names.set(id, name);
  }

  /** The name of the tool that answered, if other calls are still open. */
  end(id: string | undefined): string | undefined {
    const name = id === undefined ? undefined : this.#names.get(id);
    if (id !== undefined) this.#names.delete(id);
    return this.#names.size === 0 ? undefined : name;
  }
}

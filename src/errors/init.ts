import { SandduneError } from "./base.ts";
import { nextCommands, sentences } from "./text.ts";

/** There is something at `.sanddune/` already, which init does not touch. */
export class AlreadyInitialisedError extends SandduneError {
  constructor(
    readonly path: string,
    /** The names of what in that directory does not belong to runs. */
    readonly inTheWay: readonly string[],
    /** What runs keep there may be in use, and is in nobody's way. */
    readonly isUsedByRuns: boolean,
  ) {
    const old = `${path}.old`;
    super(
      sentences(
        `${path} is there already, and init replaces nothing: it was not touched.`,
        inTheWay.includes("config.json") &&
          "To change an answer, edit config.json, which the command line reads, and the main file beside it.",
        "To make it anew, move it out of the way first.",
        isUsedByRuns && "What runs keep in it stays.",
      ) +
        nextCommands(
          isUsedByRuns
            ? [
                ["mkdir", old],
                ["mv", "-n", ...inTheWay.map((name) => `${path}/${name}`), old],
              ]
            : [["mv", "-n", path, old]],
        ),
    );
  }
}

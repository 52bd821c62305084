import { SandduneError } from "./base.ts";
import { nextCommands, sentences } from "./text.ts";

/** `.sanddune/` already exists, and init does not change it. */
export class AlreadyInitialisedError extends SandduneError {
  constructor(
    readonly path: string,
    /** Files in that directory that do not belong to runs. */
    readonly inTheWay: readonly string[],
    /** Whether runs keep files there. These may be in use, and init does not need their names. */
    readonly isUsedByRuns: boolean,
  ) {
    const old = `${path}.old`;
    super(
      sentences(
        `${path} already exists, and init replaces nothing. It was not changed.`,
        inTheWay.includes("config.json") &&
          "To change an answer, edit config.json, which the command line reads, and the main file beside it.",
        "To start again, move it away first.",
        isUsedByRuns && "The files of runs in it stay.",
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

import { SandduneError } from "./base.ts";

/** The configuration of a scenario suite is not valid. */
export class ScenarioConfigError extends SandduneError {
  constructor(
    /** The config file of the suite, or a directory of it. */
    readonly path: string,
    readonly problems: readonly { readonly line?: number; readonly problem: string }[],
    /** The next step: a sentence without its full stop. */
    readonly remedy: string,
    options?: { cause?: unknown },
  ) {
    const lines = problems.map(
      ({ line, problem }) => `${path}${line === undefined ? "" : `:${line}`}: ${problem}.`,
    );
    super(`${lines.join("\n")}${lines.length > 1 ? "\n" : " "}${remedy}.`, options);
  }
}

/** A run record, or the index of run records, could not be written. */
export class ScenarioRecordError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(
      `The run records could not be written: ${path}: ${problem}. Fix that, and run the scenarios again.`,
      options,
    );
  }
}

/** The local mirror has nothing to serve. */
export class MirrorError extends SandduneError {
  constructor(
    readonly directory: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(
      `The local mirror cannot serve ${directory}: ${problem}. Correct "mirrorDir" in .sanddune/scenarios.json, or name another source with --base-url.`,
      options,
    );
  }
}

/** No scenario of the suite matches the selection. */
export class NoScenarioSelectedError extends SandduneError {
  constructor(
    /** Why no scenario matches: a sentence without its full stop. */
    readonly problem: string,
    /** The command that would execute scenarios. */
    readonly nextCommand: string,
  ) {
    super(`${problem}. ${nextCommand}`);
  }
}

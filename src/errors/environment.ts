import { SandduneError } from "./base.ts";
import { block, sentence, sentences } from "./text.ts";

/** An environment cannot be used as it is written. Nothing of it was started. */
export class EnvironmentError extends SandduneError {
  constructor(
    /** Its folder, or a file in there. */
    readonly path: string,
    readonly problem: string,
    /** What to do: a sentence. */
    readonly hint = "",
    options?: { cause?: unknown },
  ) {
    super(
      sentences(`The environment ${path} cannot be used: ${sentence(problem)}`, hint !== "" && hint),
      options,
    );
  }
}

/** The tests of an environment could not be made ready: its set-up failed, or its server did not come up. */
export class EnvironmentStartError extends SandduneError {
  constructor(
    readonly problem: string,
    /** The end of what was printed meanwhile. */
    readonly log = "",
    options?: { cause?: unknown },
  ) {
    super(`The environment is not ready: ${sentence(problem)}${block("The end of its log", log)}`, options);
  }
}

/** Tests cannot be run as they were asked for: there is no such test, or a parameter is wrong. */
export class TestRequestError extends SandduneError {
  constructor(
    /** Sentences: what is wrong, and what to do. */
    readonly problem: string,
    /** What a test server answers with. */
    readonly status: number,
    /** Paths of tests that could have been meant. */
    readonly paths: readonly string[] = [],
  ) {
    super(
      sentences(
        problem,
        paths.length > 0 && `There are: ${paths.map((path) => JSON.stringify(path)).join(", ")}.`,
      ),
    );
  }
}

/** A test server does not answer, or not as one does. */
export class TestServerError extends SandduneError {
  /** What it has answered with, if it has. */
  readonly status: number | undefined;

  constructor(
    readonly url: string,
    readonly problem: string,
    readonly hint: string,
    options?: { cause?: unknown; status?: number },
  ) {
    super(sentences(`The test server at ${url} ${sentence(problem)}`, hint), options);
    this.status = options?.status;
  }
}

import { SandduneError } from "./base.ts";
import { block, sentence, sentences } from "./text.ts";

/** The definition of an environment is not valid. Nothing was started. */
export class EnvironmentError extends SandduneError {
  constructor(
    /** Its folder, or a file in there. */
    readonly path: string,
    readonly problem: string,
    /** The next step, as a sentence. */
    readonly hint = "",
    options?: { cause?: unknown },
  ) {
    super(
      sentences(`The environment ${path} cannot be used: ${sentence(problem)}`, hint !== "" && hint),
      options,
    );
  }
}

/** The tests of an environment could not be prepared: its set-up failed, or its server did not start. */
export class EnvironmentStartError extends SandduneError {
  constructor(
    readonly problem: string,
    /** The end of the output until then. */
    readonly log = "",
    options?: { cause?: unknown },
  ) {
    super(`The environment is not ready: ${sentence(problem)}${block("The end of its log", log)}`, options);
  }
}

/** A request for tests is not valid: there is no such test, or a parameter is wrong. */
export class TestRequestError extends SandduneError {
  constructor(
    /** Sentences: the problem and the next step. */
    readonly problem: string,
    /** The status code of a test server's answer. */
    readonly status: number,
    /** Paths of tests that exist. */
    readonly paths: readonly string[] = [],
  ) {
    super(
      sentences(
        problem,
        paths.length > 0 && `Expected one of: ${paths.map((path) => JSON.stringify(path)).join(", ")}.`,
      ),
    );
  }
}

/** A test server does not answer, or its answer is not valid. */
export class TestServerError extends SandduneError {
  /** The status code of its answer, if there was one. */
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

import { parseJson } from "../../../tools/json/parseJson.ts";
import { MAX_TESTS } from "../../limits.ts";
import type { KnownTests } from "../known/testFiles.ts";
import { ReportBuilder, type SuiteReport } from "../report.ts";

/** An event of our reporter in a runner, as a line of JSON. Files are absolute paths, names are outermost first. */
export type RunnerEvent =
  /** The files that will be run. */
  | readonly ["files", readonly string[]]
  /** Tests of a file, before they have run. */
  | readonly ["known", string, readonly (readonly string[])[]]
  /** The result of a test, or of a group, whose tests report their results themselves. */
  | readonly ["test", string, readonly string[], "passed" | "failed" | "skipped" | "group", number, string]
  /** The tests of a file are over: its process did not end before. */
  | readonly ["ended", string]
  /** The runner is done. */
  | readonly ["end"];

interface RunnerOutcome {
  readonly names: readonly string[];
  readonly state: string;
  readonly durationMs: number;
  readonly message: string;
}

class TestFile {
  readonly known: (readonly string[])[] = [];
  readonly outcomes: RunnerOutcome[] = [];
  hasEnded = false;
}

const DID_NOT_REPORT =
  "It reported no result: its process ended before, or the runner gave up. Code that a test loads must not end the process.";

const WAS_SKIPPED =
  "It was skipped, although no file of the environment skips it: code that a test loads must not do that.";

const keyOf = (names: readonly string[]): string => JSON.stringify(names);

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

/** The length of the list is limited. */
const isListOfNames = (value: unknown): value is readonly (readonly string[])[] =>
  Array.isArray(value) && value.length <= 2 * MAX_TESTS && value.every(isNames);

export interface RunnerReportOptions {
  /** The tests that were found before the run, by file. */
  readonly before: KnownTests;
  /** The environment skips no tests of these files: a skipped test has failed, and so has a file that was not run. */
  readonly mustAllRun?: boolean;
  /** The first segments of the paths of a file's tests, and the path of the file itself. */
  readonly fileNames: (file: string) => {
    readonly before: readonly string[];
    readonly own: readonly string[];
  };
}

/**
 * The results that a runner reports while it runs. A known test without a result has failed, and so has a file without a report:
 * an early end never reduces the number of tests.
 */
export class RunnerReport {
  readonly #files = new Map<string, TestFile>();
  readonly #report = new ReportBuilder();
  #tests = 0;
  #hasAnnounced = false;
  #hasEnded = false;

  constructor(private readonly options: RunnerReportOptions) {}

  read(line: string): void {
    const event = parseJson(line) as RunnerEvent | undefined;
    if (!Array.isArray(event) || !this.#take(event)) this.#report.fail("has an invalid line");
  }

  finish(): SuiteReport {
    if (!this.#hasEnded) this.#report.fail("ends before the runner was done");
    const { mustAllRun = false } = this.options;
    // Otherwise the runner has announced its files.
    if (!this.#hasAnnounced || mustAllRun) for (const file of this.options.before.keys()) this.#file(file);
    for (const [path, file] of this.#files) this.#finishFile(path, file);
    return this.#report.finish();
  }

  #take(event: RunnerEvent): boolean {
    const [type, path, names, state, durationMs, message] = event as readonly unknown[];
    if (type === "end") {
      this.#hasEnded = true;
      return true;
    }
    if (type === "files") {
      if (!isNames(path) || this.#files.size + path.length > MAX_TESTS) return false;
      this.#hasAnnounced ||= path.length > 0;
      for (const each of path) this.#file(each);
      return true;
    }
    if (typeof path !== "string" || this.#tests > 2 * MAX_TESTS || this.#files.size > MAX_TESTS) return false;
    const file = this.#file(path);
    if (type === "ended") file.hasEnded = true;
    else if (type === "known" && isListOfNames(names)) {
      this.#tests += names.length;
      file.known.push(...names);
    } else if (type === "test" && isNames(names)) {
      this.#tests++;
      file.outcomes.push({
        names,
        state: String(state),
        durationMs: Number(durationMs),
        message: String(message ?? ""),
      });
    } else return false;
    return true;
  }

  #file(path: string): TestFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = new TestFile();
    this.#files.set(path, file);
    return file;
  }

  #finishFile(path: string, file: TestFile): void {
    const { before, own } = this.options.fileNames(path);
    const ofFile = file.outcomes.find(({ names, state }) => names.length === 0 && state === "failed");
    // A test in the source need not belong to this run: if the file finished, the runner's list is right.
    const isWhole = file.hasEnded && ofFile === undefined;
    const expected = isWhole ? file.known : [...file.known, ...(this.options.before.get(path) ?? [])];
    const missing = this.#missing(expected, file.outcomes);
    const isMeant = this.options.mustAllRun !== true || !this.options.before.has(path);
    for (const { names, state, durationMs, message } of file.outcomes) {
      if (state === "skipped" && isMeant) this.#report.skip();
      else if (state === "skipped")
        this.#report.add([...before, ...names], { passed: false, message: WAS_SKIPPED });
      else if (names.length > 0 && state !== "group")
        this.#report.add([...before, ...names], { passed: state === "passed", durationMs, message });
      // That a file has failed is said by its tests, if they are known.
      else if (names.length === 0 && missing.length === 0)
        this.#report.add(own, { passed: state === "passed", durationMs, message });
    }
    const message = ofFile?.message || DID_NOT_REPORT;
    for (const names of missing) this.#report.add([...before, ...names], { passed: false, message });
    const hasFailed = missing.length > 0 || file.outcomes.some(({ state }) => state === "failed");
    if (!file.hasEnded && !hasFailed) this.#report.add(own, { passed: false, message });
  }

  #missing(
    expected: readonly (readonly string[])[],
    outcomes: readonly RunnerOutcome[],
  ): (readonly string[])[] {
    const reported = new Set(outcomes.map(({ names }) => keyOf(names)));
    // A group counts as reported with its tests, and a parametrised test with any of its parameters.
    for (const { names } of outcomes) {
      for (let end = 1; end < names.length; end++) reported.add(keyOf(names.slice(0, end)));
      const parameters = names.at(-1)?.indexOf("[") ?? -1;
      if (parameters > 0)
        reported.add(keyOf([...names.slice(0, -1), names.at(-1)?.slice(0, parameters) ?? ""]));
    }
    const distinct = new Map(expected.map((names) => [keyOf(names), names]));
    // A group is reported by its tests.
    const groups = new Set(expected.flatMap((names) => names.map((_, end) => keyOf(names.slice(0, end)))));
    return [...distinct].filter(([key]) => !reported.has(key) && !groups.has(key)).map(([, names]) => names);
  }
}

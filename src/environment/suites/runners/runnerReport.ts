import { parseJson } from "../../../tools/json/parseJson.ts";
import { MAX_TESTS } from "../../limits.ts";
import type { KnownTests } from "../known/testFiles.ts";
import { ReportBuilder, type SuiteReport } from "../report.ts";

/** What our part of a runner says, a line of JSON each. Files are absolute paths, names are outermost first. */
export type RunnerEvent =
  /** The files that will be run. */
  | readonly ["files", readonly string[]]
  /** Tests of a file, before they have run. */
  | readonly ["known", string, readonly (readonly string[])[]]
  /** How a test ended, or a group of tests whose own outcome is that of its tests. */
  | readonly ["test", string, readonly string[], "passed" | "failed" | "skipped" | "group", number, string]
  /** The tests of a file have come to their end: its process did not end before. */
  | readonly ["ended", string]
  /** So has the runner. */
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
  "It did not report how it ended: its process ended before, or the runner gave up. Code that a test loads must not end the process.";

const WAS_SKIPPED =
  "It was skipped, although no file of the environment says so: code that a test loads must not skip it.";

const keyOf = (names: readonly string[]): string => JSON.stringify(names);

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

/** A longer list could not be taken over at once. */
const isListOfNames = (value: unknown): value is readonly (readonly string[])[] =>
  Array.isArray(value) && value.length <= 2 * MAX_TESTS && value.every(isNames);

export interface RunnerReportOptions {
  /** The tests that were known before anything was run, by file. */
  readonly before: KnownTests;
  /** Nothing leaves tests of these files out on purpose: one that was skipped has failed, as has a file that was not run. */
  readonly mustAllRun?: boolean;
  /** What stands before the names of a file's tests in a path, and for the file itself. */
  readonly fileNames: (file: string) => {
    readonly before: readonly string[];
    readonly own: readonly string[];
  };
}

/**
 * The results of a runner that tells them as it goes on. A test that is known and has not told how it ended has failed, as has a
 * file of which nothing was heard: that something ends early is never a reason to count less.
 */
export class RunnerReport {
  readonly #files = new Map<string, TestFile>();
  readonly #report = new ReportBuilder();
  #tests = 0;
  #hasAnnounced = false;
  #hasEnded = false;

  constructor(private readonly options: RunnerReportOptions) {}

  /** A line of what the runner tells. */
  read(line: string): void {
    const event = parseJson(line) as RunnerEvent | undefined;
    if (!Array.isArray(event) || !this.#take(event)) this.#report.fail("has a line that cannot be read");
  }

  finish(): SuiteReport {
    if (!this.#hasEnded) this.#report.fail("ends before the runner had said that it was done");
    const { mustAllRun = false } = this.options;
    // Otherwise the runner has said which of them it takes.
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
    // What was read in a file may be there for another occasion: where its tests came to their end, the runner knows better.
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
    // Tests are in groups; and a test with parameters is written down once, and reported with each of them.
    for (const { names } of outcomes) {
      for (let end = 1; end < names.length; end++) reported.add(keyOf(names.slice(0, end)));
      const parameters = names.at(-1)?.indexOf("[") ?? -1;
      if (parameters > 0)
        reported.add(keyOf([...names.slice(0, -1), names.at(-1)?.slice(0, parameters) ?? ""]));
    }
    const distinct = new Map(expected.map((names) => [keyOf(names), names]));
    // A group is told of by its tests.
    const groups = new Set(expected.flatMap((names) => names.map((_, end) => keyOf(names.slice(0, end)))));
    return [...distinct].filter(([key]) => !reported.has(key) && !groups.has(key)).map(([, names]) => names);
  }
}

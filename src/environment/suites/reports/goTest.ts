import { MAX_TESTS } from "../../limits.ts";
import { ReportBuilder, type SuiteReport } from "../report.ts";
import { type GoEvent, parseFailedBuild, parseGoEvent } from "./goEvents.ts";
import { addTree, type TestNode } from "./testTree.ts";

/** Kept of the output of one test, package or build. */
const MAX_OUTPUT_CHARACTERS = 32 * 1024;
/** Packages, builds and tests, including groups of tests. */
const MAX_ENTRIES = 2 * MAX_TESTS;

/** Lines that `go test` prints around the output of tests. */
const FRAME =
  /^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\s|--- (?:PASS|FAIL|SKIP): |(?:PASS|FAIL)\s*$|(?:ok|FAIL)\s+\S+\s)/;

const PACKAGE_END = /^ok\s+\S+\t/;

const NO_END = "It started, and did not end.";
const CUT_SHORT =
  "Its program ended with exit code 0 before its tests were over: tests that it did not report have failed. Code that a test calls must not end the process.";

/** The state of a test, a package or a build. */
class Entry {
  /** `undefined` while it runs. */
  state: "pass" | "fail" | "skip" | undefined;
  durationMs = 0;
  output = "";
  readonly tests = new Map<string, Entry>();
  /** For a package: the build that failed. */
  failedBuild = "";
  /** For a package: its program has printed PASS, which it does after all tests. */
  hasSaidPass = false;
  readonly cutTests = new Set<string>();

  say(output: string): void {
    if (output === "PASS\n") this.hasSaidPass = true;
    const room = MAX_OUTPUT_CHARACTERS - this.output.length;
    if (room > 0 && !FRAME.test(output.slice(0, 1024))) this.output += output.slice(0, room);
  }

  end({ action, elapsedMs, build }: GoEvent): void {
    if (action !== "pass" && action !== "fail" && action !== "skip") return;
    this.state = action;
    this.durationMs = elapsedMs;
    this.failedBuild = build;
  }

  get hasFailed(): boolean {
    return this.state === "fail" || this.state === undefined;
  }

  /** For a package: its program ended with exit code 0 before its tests were over. */
  get wasCutShort(): boolean {
    return this.state === "pass" && !this.hasSaidPass;
  }
}

/** The nearest test that contains a subtest, whose own name may have slashes. */
const parentOf = (name: string, tests: ReadonlyMap<string, Entry>): string | undefined => {
  for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1)) {
    if (tests.has(name.slice(0, end))) return name.slice(0, end);
  }
  return undefined;
};

const treeOf = (tests: ReadonlyMap<string, Entry>): TestNode[] => {
  const roots: TestNode[] = [];
  const children = new Map<string, TestNode[]>([...tests.keys()].map((name) => [name, []]));
  for (const [name, { state, durationMs, output }] of tests) {
    const parent = parentOf(name, tests);
    const siblings = parent === undefined ? roots : children.get(parent);
    siblings?.push({
      name: parent === undefined ? name : name.slice(parent.length + 1),
      passed: state === "pass",
      isSkipped: state === "skip",
      durationMs,
      message: state === undefined ? `${output}\n${NO_END}` : output,
      children: children.get(name) ?? [],
    });
  }
  return roots;
};

/** The names of tests by package, as they are in the source. */
export type KnownGoTests = ReadonlyMap<string, readonly string[]>;

/** Reads the output of `go test -json` line by line: it may be long. */
export class GoTestReader {
  readonly #packages = new Map<string, Entry>();
  readonly #builds = new Map<string, Entry>();
  readonly #report = new ReportBuilder();
  #entries = 0;

  /** `known` are the tests that were found before the run. */
  constructor(private readonly known: KnownGoTests = new Map()) {}

  /** Returns the text of a line for people, which replaces the line in the output of the command. */
  read(line: string): string {
    const event = parseGoEvent(line);
    if (event === undefined) return this.#readPlain(line);
    const { action, packageName, testName, output, build } = event;
    if (action === "build-output") this.#entry(this.#builds, build)?.say(output);
    if (packageName !== "") {
      const its = this.#entry(this.#packages, packageName);
      const entry = testName === "" ? its : its && this.#entry(its.tests, testName);
      // The package ended in the middle of a test. Some versions of Go report this test as passed.
      if (testName !== "" && PACKAGE_END.test(output)) its?.cutTests.add(testName);
      if (action === "output") entry?.say(output);
      else if (testName === "" || its?.cutTests.has(testName) !== true) entry?.end(event);
    }
    return output;
  }

  /** `stderr` has the build errors of older versions of Go. */
  finish(stderr: string): SuiteReport {
    // Packages are tested side by side, and reported in any order.
    const packages = [...this.#packages].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [name, its] of packages) {
      addTree(this.#report, treeOf(its.tests), [name]);
      if (!its.hasFailed && !its.wasCutShort) continue;
      // Tests in the source need not belong to this run: they are missing only if the program ended early.
      const known = its.state === "fail" ? [] : (this.known.get(name) ?? []);
      const missing = known.filter((test) => !its.tests.has(test));
      for (const test of missing)
        this.#report.add([name, test], { passed: false, message: this.#why(its, stderr) });
      if (missing.length > 0 || [...its.tests.values()].some((test) => test.hasFailed)) continue;
      this.#report.add([name], {
        passed: false,
        durationMs: its.durationMs,
        message: this.#why(its, stderr),
      });
    }
    return this.#report.finish();
  }

  #why({ state, failedBuild, output, wasCutShort }: Entry, stderr: string): string {
    if (wasCutShort) return `${CUT_SHORT}\n${output}`;
    if (failedBuild !== "") return this.#builds.get(failedBuild)?.output ?? `${stderr}\n${output}`;
    const said = state === undefined ? NO_END : "The package failed, and none of its tests did.";
    return `${said}\n${output}`;
  }

  #readPlain(line: string): string {
    const packageName = parseFailedBuild(line);
    const its = packageName === undefined ? undefined : this.#entry(this.#packages, packageName);
    if (its !== undefined) {
      its.state = "fail";
      its.failedBuild = packageName ?? "";
    }
    return `${line}\n`;
  }

  #entry(entries: Map<string, Entry>, name: string): Entry | undefined {
    const known = entries.get(name);
    if (known !== undefined) return known;
    if (++this.#entries > MAX_ENTRIES) {
      this.#report.fail(`has more than ${MAX_ENTRIES} tests: split the suite`);
      return undefined;
    }
    const entry = new Entry();
    entries.set(name, entry);
    return entry;
  }
}

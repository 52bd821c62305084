import { MAX_TESTS } from "../../limits.ts";
import { ReportBuilder, type SuiteReport } from "../report.ts";
import { readTapLine, type TapLine } from "./tapLines.ts";
import { Printed, TapTest } from "./tapTest.ts";
import { addTree } from "./testTree.ts";

/** Including tests that only contain others. */
const MAX_POINTS = 2 * MAX_TESTS;

/** The tests at one level whose parent is not reported yet. */
interface Level {
  readonly tests: TapTest[];
  plan: number | undefined;
}

/** Names that the test repeats, and the totals at the end. */
const NOTHING_NEW = /^Subtest: |^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms)\s+[\d.]+$/;

class TapReader {
  readonly #report = new ReportBuilder();
  readonly #levels: Level[] = [];
  readonly #printed = new Printed();
  /** The test that the following lines belong to. */
  #last: TapTest | undefined;
  /** A YAML block can start only directly after its test. */
  #isRightAfterTest = false;
  /** The indentation of the open YAML block. */
  #yamlIndentation: string | undefined;
  #points = 0;
  #isOver = false;

  read(raw: string): void {
    if (this.#isOver || this.#readYaml(raw)) return;
    const line = readTapLine(raw);
    this.#isRightAfterTest = line.type === "point";
    if (line.type === "point") this.#point(line);
    else if (line.type === "plan") this.#plan(line.level, line.count);
    else if (line.type === "bailOut") this.#end(`says that the suite gave up: ${line.reason || "Bail out!"}`);
    else if (line.type === "comment") this.#comment(line.text);
    else if (this.#last?.wantsMore === true && /^(?:\s|$)/.test(line.text)) this.#last.say(line.text);
  }

  finish(): SuiteReport {
    if (this.#yamlIndentation !== undefined) this.#report.fail("ends in the middle of a test's details");
    const { tests, plan } = this.#level(0);
    if (plan !== undefined) this.#compare(plan, tests.length, "");
    else if (tests.length > 0)
      this.#report.fail("has no plan (a line such as 1..3): it may have ended too early");
    else this.#report.fail("has neither tests nor a plan: is its format TAP?");
    addTree(this.#report, tests);
    return this.#report.finish();
  }

  #readYaml(raw: string): boolean {
    if (this.#yamlIndentation === undefined) {
      const start = this.#isRightAfterTest ? /^([ \t]+)---\s*$/.exec(raw.slice(0, 1024)) : null;
      if (start === null) return false;
      this.#yamlIndentation = start[1];
      return true;
    }
    if (raw.trimEnd() === `${this.#yamlIndentation}...`) {
      this.#last?.endYaml();
      this.#yamlIndentation = undefined;
    } else {
      const isIndented = raw.startsWith(this.#yamlIndentation);
      this.#last?.sayYaml(isIndented ? raw.slice(this.#yamlIndentation.length) : raw);
    }
    return true;
  }

  #level(level: number): Level {
    while (this.#levels.length <= level) this.#levels.push({ tests: [], plan: undefined });
    return this.#levels[level] as Level;
  }

  /** The subtests of a test that is being reported. */
  #take(level: number, parent: string): TapTest[] {
    const [own, ...deeper] = this.#levels.splice(level);
    if (own === undefined) return [];
    if (own.plan !== undefined) this.#compare(own.plan, own.tests.length, ` of ${JSON.stringify(parent)}`);
    const tests = [...own.tests, ...deeper.flatMap((each) => each.tests)];
    // Without a plan, they are more likely output of a test.
    return own.plan !== undefined || tests.some(({ passed }) => !passed) ? tests : [];
  }

  #compare(plan: number, count: number, whose: string): void {
    if (plan !== count) this.#report.fail(`has ${count} tests${whose} instead of the planned ${plan}`);
  }

  #point({ level, isOk, name, isSkipped, durationMs }: Extract<TapLine, { type: "point" }>): void {
    if (++this.#points > MAX_POINTS) {
      this.#end(`has more than ${MAX_POINTS} tests: split the suite`);
      return;
    }
    const children = this.#take(level + 1, name);
    this.#last = new TapTest(name, isOk, isSkipped, children, this.#printed.take(), durationMs);
    this.#level(level).tests.push(this.#last);
  }

  #plan(level: number, count: number): void {
    const place = this.#level(level);
    if (place.plan !== undefined) this.#report.fail("has two plans where one is expected");
    place.plan = count;
  }

  #comment(text: string): void {
    if (NOTHING_NEW.test(text)) return;
    if (this.#last?.wantsMore === true) this.#last.say(text);
    else this.#printed.add(text);
  }

  /** Ignores everything after it. */
  #end(problem: string): void {
    this.#report.fail(problem);
    this.#isOver = true;
  }
}

/**
 * Reads a report of the Test Anything Protocol, versions 12 to 14, subtests included. `node --test` reports over a channel of its
 * own; this is for commands whose `format` is `tap`: tape and prove, for example, print TAP and have no JUnit reporter.
 */
export const parseTap = (text: string): SuiteReport => {
  const reader = new TapReader();
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    reader.read(text.slice(start, text[stop - 1] === "\r" ? stop - 1 : stop));
    start = stop + 1;
  }
  return reader.finish();
};

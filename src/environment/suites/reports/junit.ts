import { ReportBuilder, type SuiteReport } from "../report.ts";
import { type XmlEvent, XmlProblem, xmlEvents } from "./xml.ts";

const MAX_DEPTH = 64;
/** Kept of one failure. The message is shortened later. */
const MAX_DETAIL_CHARACTERS = 64 * 1024;

const FAILURES = ["failure", "error"];
/** Values of `status` and `result` for a test that has not run, in GoogleTest and others. */
const NOT_RUN = ["notrun", "disabled", "skipped", "suppressed", "ignored"];

type Attributes = ReadonlyMap<string, string>;

interface Element {
  readonly name: string;
  readonly attributes: Attributes;
  /** For a test: the texts of its failures. For a failure: its text so far. */
  readonly details: string[];
  detailLength: number;
  isSkipped: boolean;
}

const milliseconds = (time: string | undefined): number =>
  Number((time ?? "").replaceAll(",", "") || 0) * 1000;

const describeFailure = ({ attributes, details }: Element): string => {
  const body = details.join("").trim();
  const message = (attributes.get("message") ?? "").trim();
  if (body === "") return message || (attributes.get("type") ?? "").trim();
  return message === "" || body.includes(message) ? body : `${message}\n${body}`;
};

class JunitReader {
  readonly #report = new ReportBuilder();
  /** The open elements, from the root. */
  readonly #stack: Element[] = [];
  hasEnded = false;

  finish(problem?: string): SuiteReport {
    if (problem !== undefined) this.#report.fail(problem);
    else if (!this.hasEnded) this.#report.fail("ends before its last element does");
    return this.#report.finish();
  }

  read(event: XmlEvent): void {
    if (event.type === "text") this.#say(event.text);
    else if (event.type === "open") this.#open(event.name, event.attributes);
    else this.#close(event.name);
  }

  #open(name: string, attributes: Attributes): void {
    if (this.#stack.length === 0 && name !== "testsuites" && name !== "testsuite") {
      throw new XmlProblem(`is no JUnit report: it begins with <${name.slice(0, 80)}>`);
    }
    if (this.#stack.length >= MAX_DEPTH) throw new XmlProblem(`is nested deeper than ${MAX_DEPTH} elements`);
    const parent = this.#stack.at(-1);
    if (parent?.name === "testcase" && name === "skipped") parent.isSkipped = true;
    this.#stack.push({ name, attributes, details: [], detailLength: 0, isSkipped: false });
  }

  #close(name: string): void {
    const element = this.#stack.pop();
    if (element?.name !== name)
      throw new XmlProblem(`is not well-formed XML: </${name.slice(0, 80)}> closes nothing`);
    const parent = this.#stack.at(-1);
    if (FAILURES.includes(name) && parent?.name === "testcase") parent.details.push(describeFailure(element));
    // A suite that failed itself, for example in its set-up.
    if (FAILURES.includes(name) && parent?.name === "testsuite") {
      this.#report.add(this.#suiteNames(), { passed: false, message: describeFailure(element) });
    }
    if (name === "testcase") this.#add(element);
    this.hasEnded = this.#stack.length === 0;
  }

  #say(text: string): void {
    const element = this.#stack.at(-1);
    if (element === undefined || !FAILURES.includes(element.name)) return;
    const room = MAX_DETAIL_CHARACTERS - element.detailLength;
    if (room <= 0) return;
    element.details.push(text.slice(0, room));
    element.detailLength += text.length;
  }

  #add({ attributes, details, isSkipped }: Element): void {
    const isNotRun = ["status", "result"].some((key) =>
      NOT_RUN.includes((attributes.get(key) ?? "").toLowerCase()),
    );
    if ((isSkipped || isNotRun) && details.length === 0) {
      this.#report.skip();
      return;
    }
    this.#report.add(this.#namesOf(attributes), {
      passed: details.length === 0,
      durationMs: milliseconds(attributes.get("time")),
      message: details.join("\n\n"),
    });
  }

  #suiteNames(): string[] {
    const suites = this.#stack.filter(({ name }) => name === "testsuite");
    return suites.map(({ attributes }) => attributes.get("name") ?? "");
  }

  #namesOf(attributes: Attributes): string[] {
    const name = attributes.get("name") ?? "";
    const className = attributes.get("classname");
    // Some runners repeat the name as the class name.
    if (className === name || className === "") return [name];
    return [...(className === undefined ? this.#suiteNames() : [className]), name];
  }
}

const ROOT = /<(?:[\w.-]+:)?testsuites?[\s/>]/;
/** Where the report begins: other output may precede it. */
const BEGINNING = new RegExp(`<\\?xml\\s|${ROOT.source}`);

/** Reads a report in JUnit's XML format, of which every runner has its own variant. */
export const parseJunit = (text: string): SuiteReport => {
  const reader = new JunitReader();
  const start = text.search(BEGINNING);
  if (start === -1) return reader.finish(text.trim() === "" ? "is empty" : "is no JUnit report");
  const report = text.slice(start);
  try {
    for (const event of xmlEvents(report)) {
      reader.read(event);
      if (!reader.hasEnded || event.type !== "close") continue;
      return reader.finish(ROOT.test(report.slice(event.end)) ? "has more than one report in it" : undefined);
    }
    return reader.finish();
  } catch (problem) {
    if (!(problem instanceof XmlProblem)) throw problem;
    return reader.finish(problem.message);
  }
};

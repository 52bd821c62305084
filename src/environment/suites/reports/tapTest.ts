import type { TestNode } from "./testTree.ts";

/** Lines kept for one test, and characters of each. */
const MAX_LINES = 400;
const MAX_CHARACTERS = 8192;
/** Lines kept of the output before it. */
const MAX_PRINTED_LINES = 40;

/** Details that do not explain a failure. */
const NOISE = /^(?:duration_ms|type|code|failureType): /;
const DURATION = /^duration_ms: ([\d.]{1,20})\s*$/;

/** A test of a TAP report. Most of its details follow it. */
export class TapTest implements TestNode {
  readonly #details: string[] = [];
  #hasYaml = false;

  constructor(
    readonly name: string,
    readonly passed: boolean,
    readonly isSkipped: boolean,
    readonly children: readonly TestNode[],
    /** The output since the previous test. */
    private readonly printedBefore: readonly string[],
    public durationMs: number | undefined,
  ) {}

  get message(): string {
    return this.#details.join("\n");
  }

  /** Whether following lines belong to it: they do if it has failed and has no YAML block. */
  get wantsMore(): boolean {
    return !this.passed && !this.#hasYaml;
  }

  say(line: string): void {
    if (this.#details.length < MAX_LINES) this.#details.push(line.slice(0, MAX_CHARACTERS));
  }

  sayYaml(line: string): void {
    this.#hasYaml = true;
    this.durationMs ??= Number(DURATION.exec(line.slice(0, MAX_CHARACTERS))?.[1] ?? Number.NaN) || undefined;
    if (!this.passed && !NOISE.test(line)) this.say(line);
  }

  /** For a file that could not be loaded, the reason was printed before. */
  endYaml(): void {
    this.#hasYaml = true;
    for (const line of this.passed ? [] : this.printedBefore) this.say(line);
  }
}

/** The last lines of output since the last test. */
export class Printed {
  #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line.slice(0, MAX_CHARACTERS));
    if (this.#lines.length > MAX_PRINTED_LINES) this.#lines.shift();
  }

  take(): readonly string[] {
    const taken = this.#lines;
    this.#lines = [];
    return taken;
  }
}

import type { TestNode } from "./testTree.ts";

/** Lines kept of what is said about one test, and characters of each. */
const MAX_LINES = 400;
const MAX_CHARACTERS = 8192;
/** Lines kept of what was printed before it. */
const MAX_PRINTED_LINES = 40;

/** Of no use to whoever reads why a test has failed. */
const NOISE = /^(?:duration_ms|type|code|failureType): /;
const DURATION = /^duration_ms: ([\d.]{1,20})\s*$/;

/** A test of a TAP report, of which more is told after it than before. */
export class TapTest implements TestNode {
  readonly #details: string[] = [];
  #hasYaml = false;

  constructor(
    readonly name: string,
    readonly passed: boolean,
    readonly isSkipped: boolean,
    readonly children: readonly TestNode[],
    /** Printed between the test before it and this one. */
    private readonly printedBefore: readonly string[],
    public durationMs: number | undefined,
  ) {}

  get message(): string {
    return this.#details.join("\n");
  }

  /** Whether lines that are no TAP belong to it: they do if it has failed and does not say why in YAML. */
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

  /** Where a test is a whole file that could not be loaded, the reason was printed before it. */
  endYaml(): void {
    this.#hasYaml = true;
    for (const line of this.passed ? [] : this.printedBefore) this.say(line);
  }
}

/** The last lines that were printed since the last test. */
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

import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { ExitMarkerFilter } from "./exitMarkerFilter.ts";

export interface ExecOutputOptions {
  readonly markerId: string;
  readonly captureBytes: number;
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** One output stream of a command: without its exit marker, cut into lines, its end kept. */
export class ExecOutput {
  readonly #capture: BoundedCapture;
  readonly #filter: ExitMarkerFilter;
  readonly #lines: LineSplitter | undefined;

  constructor(options: ExecOutputOptions) {
    this.#capture = new BoundedCapture(options.captureBytes);
    this.#lines = options.onLine && new LineSplitter(options.onLine);
    this.#filter = new ExitMarkerFilter(options.markerId, (data) => {
      this.#capture.push(data);
      options.onChunk?.(data);
      this.#lines?.push(data);
    });
  }

  /** Set when the stream is complete. */
  get exitCode(): number | undefined {
    return this.#filter.exitCode;
  }

  push(chunk: Buffer): void {
    this.#filter.push(chunk);
  }

  /** The stream is over: delivers a last line without a line end. */
  end(): void {
    this.#filter.end();
    this.#lines?.end();
  }

  text(): string {
    return this.#capture.text();
  }
}

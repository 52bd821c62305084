/** `Step 3/9 : RUN …`, `STEP 3/9: RUN …`, and with several stages `[1/2] STEP 3/9: RUN …`. */
const SEQUENTIAL_STEP = /^(?:\[\d+\/\d+\] )?step (\d+\/\d+) ?: (.*)$/i;
/** `#7 [3/9] RUN …`, and with several stages `#7 [build 3/9] RUN …`. */
const CONCURRENT_STEP = /^#(\d+) \[(?:\S+ +)?(\d+\/\d+)\] (.*)$/;
const CONCURRENT_FAILURE = /^#(\d+) ERROR\b/;

/** Follows the output of a build: Docker's classic one, BuildKit's plain one, or Podman's. */
export class BuildSteps {
  readonly #byVertex = new Map<string, string>();
  #latest: string | undefined;
  #failed: string | undefined;

  /** The step that the line begins, e.g. `3/9 RUN npm install`. */
  read(line: string): string | undefined {
    const [, sequential, instruction] = SEQUENTIAL_STEP.exec(line) ?? [];
    if (sequential !== undefined) return this.#begin(`${sequential} ${instruction}`);
    const [, vertex, concurrent, vertexInstruction] = CONCURRENT_STEP.exec(line) ?? [];
    if (vertex !== undefined) {
      // Reported again when its output continues after that of another step.
      if (this.#byVertex.has(vertex)) return undefined;
      const step = `${concurrent} ${vertexInstruction}`;
      this.#byVertex.set(vertex, step);
      return this.#begin(step);
    }
    const [, failedVertex] = CONCURRENT_FAILURE.exec(line) ?? [];
    if (failedVertex !== undefined) this.#failed ??= this.#byVertex.get(failedVertex);
    return undefined;
  }

  get failed(): string | undefined {
    return this.#failed ?? this.#latest;
  }

  #begin(step: string): string {
    this.#latest = step;
    return step;
  }
}

import type { LoopbackMachine, LoopbackProcess } from "./loopbackMachine.ts";

export interface ProcessOutput {
  readonly stream: "stdout" | "stderr";
  readonly data: Buffer;
}

/** A process in a machine that goes on, whoever listens to it. It has no standard input. */
export class OutlivingProcess {
  readonly #child: LoopbackProcess;
  readonly #listeners = new Set<(output: ProcessOutput | undefined) => void>();
  exitCode: number | undefined;
  wasKilled = false;

  constructor(
    machine: LoopbackMachine,
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    onEnd: () => void = () => {},
  ) {
    this.#child = machine.start(argv, { env: { LANG: "C.UTF-8", TMPDIR: machine.directory, ...env } });
    this.#child.stdin.end();
    for (const stream of ["stdout", "stderr"] as const) {
      this.#child[stream].on("data", (data: Buffer) => this.#tell({ stream, data }));
    }
    this.#child.on("error", () => {});
    this.#child.on("close", (code, signal) => {
      this.wasKilled = signal !== null;
      this.exitCode = code ?? (signal === "SIGKILL" ? 137 : 143);
      this.#tell(undefined);
      onEnd();
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Calls with what is printed from now on, and with `undefined` at its end. */
  listen(listener: (output: ProcessOutput | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The one process, and none that it has started: that is how the services do it. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  #tell(output: ProcessOutput | undefined): void {
    for (const listener of this.#listeners) listener(output);
  }
}

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isExecutable, type Runtime } from "./runtimeChecks.ts";

interface GuardedProgram {
  /** Declaring any of these runtimes allows the program. */
  readonly runtimes: readonly Runtime[];
  /** First words, as patterns of the shell, that only ask something: whatever looks for runtimes may do that. */
  readonly questions: string;
  /** First words that start something. Neither list has to be complete if the other one is `*`. */
  readonly starts: string;
}

const ENGINE_STARTS = "build|compose|container|create|exec|import|kube|load|run|start|system";

const GUARDED_PROGRAMS: Readonly<Record<string, GuardedProgram>> = {
  bwrap: { runtimes: ["bubblewrap"], questions: "--version|--help", starts: "*" },
  docker: { runtimes: ["docker"], questions: "*", starts: ENGINE_STARTS },
  podman: { runtimes: ["podman", "rootless podman"], questions: "*", starts: ENGINE_STARTS },
  dockerd: { runtimes: ["dockerd"], questions: "--version", starts: "*" },
  tmux: { runtimes: ["tmux"], questions: "-V", starts: "*" },
  zsh: { runtimes: ["zsh"], questions: "--version", starts: "*" },
  fish: { runtimes: ["fish"], questions: "--version", starts: "*" },
  go: { runtimes: ["go"], questions: "version", starts: "*" },
};

/** Options of container clients that stand before the command, and have a value. */
const ENGINE_OPTIONS =
  "-H|--host|--url|--identity|-c|--context|--connection|--config|-l|--log-level|--root|--runroot";

const FIND_COMMAND = `
skip=
for argument; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $argument in
    ${ENGINE_OPTIONS}) skip=yes ;;
    -*) ;;
    *) word=$argument; break ;;
  esac
done
`;

/** Leaves questions to the program itself, and notes a start instead of doing it. */
const standIn = (program: string, real: string, notes: string): string => {
  const { runtimes, questions, starts } = GUARDED_PROGRAMS[program] as GuardedProgram;
  const ask = `${questions}) exec '${real}' "$@" ;;`;
  const refuse = `${starts}) ;;`;
  return `#!/bin/sh
word=$1
${starts === "*" ? "" : FIND_COMMAND}
case $word in
  ${starts === "*" ? ask : refuse}
  ${starts === "*" ? refuse : ask}
esac
set -f
# One line, whatever the arguments are.
echo ${program} $* >>'${notes}'
echo '${program}: the test has not declared that it needs ${runtimes[0]}' >&2
exit 126
`;
};

/**
 * Keeps the programs of runtimes from tests that have not declared them, in this process and whatever it starts: a
 * directory in front of the PATH has stand-ins that refuse. So a missing declaration shows on every machine, not only
 * on one without the runtime.
 */
class RuntimeGuard {
  readonly #path = process.env["PATH"] ?? "";
  readonly #directory = mkdtempSync(join(tmpdir(), "sanddune-guard-"));
  readonly #bin = join(this.#directory, "bin");
  readonly #notes = join(this.#directory, "notes");
  #declared: readonly Runtime[] = [];

  constructor() {
    mkdirSync(this.#bin);
    writeFileSync(this.#notes, "");
    // Tests start programs as other users, too.
    for (const path of [this.#directory, this.#bin]) chmodSync(path, 0o755);
    chmodSync(this.#notes, 0o666);
    process.env["PATH"] = `${this.#bin}${delimiter}${this.#path}`;
    this.#apply([]);
  }

  declare(runtimes: readonly Runtime[]): void {
    this.#apply([...this.#declared, ...runtimes]);
  }

  withdraw(runtimes: readonly Runtime[]): void {
    const left = [...this.#declared];
    for (const runtime of runtimes) left.splice(left.indexOf(runtime), 1);
    this.#apply(left);
  }

  /** Throws if a program was started that nothing had declared. */
  check(): void {
    const commands = readFileSync(this.#notes, "utf8").split("\n").filter(Boolean);
    if (commands.length === 0) return;
    writeFileSync(this.#notes, "");
    const programs = [...new Set(commands.map((command) => command.split(" ", 1)[0] ?? ""))];
    const runtimes = programs.map((program) => GUARDED_PROGRAMS[program]?.runtimes[0]);
    throw new Error(
      `The test has started ${programs.join(", ")} without declaring it: wrap the test in ` +
        `describeWith(${JSON.stringify(runtimes)}, ...) of test/helpers/runtimes/runtimes.ts\n${commands.join("\n")}`,
    );
  }

  #apply(declared: readonly Runtime[]): void {
    this.#declared = declared;
    for (const [program, { runtimes }] of Object.entries(GUARDED_PROGRAMS)) {
      const path = join(this.#bin, program);
      if (runtimes.some((runtime) => declared.includes(runtime))) rmSync(path, { force: true });
      else if (!existsSync(path)) this.#writeStandIn(program, path);
    }
  }

  #writeStandIn(program: string, path: string): void {
    const real = this.#path
      .split(delimiter)
      .map((directory) => join(directory, program))
      .find(isExecutable);
    // What is not there cannot be started.
    if (real !== undefined) writeFileSync(path, standIn(program, real, this.#notes), { mode: 0o755 });
  }
}

const SHARED = globalThis as { sandduneRuntimeGuard?: RuntimeGuard };

/** One a process, also where test files share a process. */
export const runtimeGuard = (): RuntimeGuard => {
  SHARED.sandduneRuntimeGuard ??= new RuntimeGuard();
  return SHARED.sandduneRuntimeGuard;
};

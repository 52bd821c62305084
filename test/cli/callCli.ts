import { Readable, Writable } from "node:stream";
import { main } from "../../src/cli/commandLine.ts";
import type { CliOptions, CliResult } from "./startCli.ts";

class Captured extends Writable {
  #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    this.#chunks.push(chunk);
    written();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}

/** Puts properties of an object in place, and returns what puts the former ones back. */
const substitute = (target: object, properties: Readonly<Record<string, unknown>>): (() => void) => {
  const former = Object.keys(properties).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  }
  return () => {
    for (const [name, descriptor] of former) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
  };
};

const substituteEnv = (env: Readonly<Record<string, string>>): (() => void) => {
  const former = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
};

const call = async (
  args: readonly string[],
  { cwd, stdin = "", env = {} }: CliOptions,
): Promise<CliResult> => {
  const [stdout, stderr] = [new Captured(), new Captured()];
  const formerCwd = process.cwd();
  const formerExitCode = process.exitCode;
  const restore = [
    substituteEnv(env),
    substitute(process, { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr }),
  ];
  process.exitCode = undefined;
  try {
    process.chdir(cwd);
    await main(args);
    return { exitCode: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(formerCwd);
    process.exitCode = formerExitCode;
    for (const undo of restore.reverse()) undo();
  }
};

let deadlineWarning: Promise<unknown> = Promise.resolve();

/**
 * The command line in this process, with streams, working directory and environment of its own: as much as a process
 * of its own shows of a command that ends by itself, in a tenth of the time. One call at a time, since a process has
 * one working directory. Signals, terminals, and what happens after the last line need `startCli()`.
 */
export const runCli = (args: readonly string[], options: CliOptions): Promise<CliResult> => {
  const result = deadlineWarning.then(() => call(args, options));
  deadlineWarning = result.catch(() => {});
  return result;
};

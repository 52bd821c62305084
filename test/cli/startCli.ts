import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { builtCli } from "../helpers/built.ts";

export interface CliResult {
  /** 128 + n is what the process itself ended with; death by a signal is `null`. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const cli = builtCli();

/** Starts `sanddune` as a process of its own, as a user's shell would. */
export const startCli = (
  args: readonly string[],
  { cwd, stdin = "", env }: CliOptions,
): { readonly child: ChildProcess; readonly result: Promise<CliResult> } => {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: "pipe",
  });
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const result = Promise.all([
    once(child, "close"),
    text(child.stdout).catch(() => ""),
    text(child.stderr),
  ]).then(([[exitCode], stdout, stderr]): CliResult => ({ exitCode, stdout, stderr }));
  return { child, result };
};

/** The same for a command that ends by itself. */
export const runCliProcess = (args: readonly string[], options: CliOptions): Promise<CliResult> =>
  startCli(args, options).result;

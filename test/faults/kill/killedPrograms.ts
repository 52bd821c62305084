import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { bundle } from "../../helpers/bundle.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A program of this directory, made for the first test that asks for it. */
export const useProgram = (name: string) => (): string => bundle(join(import.meta.dirname, name));

export interface ProgramOptions {
  readonly order: object;
  /** When it has come as far as it should. */
  readonly when: () => boolean;
  /** The program's temporary files: the test removes what the program could not. */
  readonly temporary?: string;
  /** The program may come to its end before it is seen how far it has come. */
  readonly mayEnd?: boolean;
}

/** Starts a program, and waits until it has come as far as it should. */
export const startProgram = async (
  program: string,
  { order, when, temporary = temporaryDirectory(), mayEnd = false }: ProgramOptions,
): Promise<{ die(): Promise<void> }> => {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exit = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  await waitFor(() => when() || child.exitCode !== null);
  if (!mayEnd && child.exitCode !== null) throw new Error("The program has ended too early");
  const die = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  return { die };
};

/** Starts a program, kills it as soon as it has come as far as it should, and sees that it is dead. */
export const killWhen = async (program: string, options: ProgramOptions): Promise<void> => {
  const { die } = await startProgram(program, options);
  await die();
};

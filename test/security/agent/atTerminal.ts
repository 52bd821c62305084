import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { bundle } from "../../helpers/bundle.ts";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import type { Scene } from "./hostSessions.ts";

const PROGRAM = join(import.meta.dirname, "hostSessions.ts");

/** What a session came to, or its error: as far as JSON can tell. */
export type Outcome = Record<string, unknown> & {
  readonly warnings?: string[];
  readonly commits?: { readonly sha: string }[];
  readonly preservedWorktreePath?: string;
};

export interface Performance {
  readonly terminal: Terminal;
  /** Waits for the end, and gives what came of each act; with a worktree, the last one is of its closing. */
  outcomes(): Promise<Outcome[]>;
}

/** Makes sessions in a process of their own that has a terminal. */
export const atTerminal = (
  scene: Omit<Scene, "image" | "resultFile">,
  env: Readonly<Record<string, string>> = {},
): Performance => {
  const directory = temporaryDirectory();
  const resultFile = join(directory, "results.json");
  const sceneFile = join(directory, "scene.json");
  writeFileSync(sceneFile, JSON.stringify({ ...scene, image: TEST_IMAGE, resultFile } satisfies Scene));
  const command = [process.execPath, bundle(PROGRAM), sceneFile].map(shellQuote).join(" ");
  const terminal = startTerminal(command, {
    cwd: scene.cwd,
    columns: 160,
    // What a killed session leaves goes after the test.
    env: { TMPDIR: temporaryDirectory(), ...env },
  });
  return {
    terminal,
    outcomes: async () => {
      const exitCode = await terminal.ended();
      if (exitCode !== 0) throw new Error(`The process ended with ${exitCode}:\n${terminal.history()}`);
      return JSON.parse(readFileSync(resultFile, "utf8"));
    },
  };
};

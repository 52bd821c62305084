import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { bundle } from "../../helpers/bundle.ts";
import { killProcess } from "../../helpers/processes/killProcess.ts";
import { startTerminal, type Terminal, type TerminalOptions } from "../../helpers/processes/terminal.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import type { Runtime } from "../../helpers/runtimes/runtimes.ts";
import type { Order, Outcome, Report, SandboxName, Step } from "./interactiveProgram.ts";
import { carries, type Process, processes, startFilesOf, uses } from "./processes.ts";

export type { Outcome, SandboxName, Step } from "./interactiveProgram.ts";
export { environmentsWith, startFilesOf, uniqueMark } from "./processes.ts";

/** What each sandbox needs to be tested at a terminal. */
export const NEEDS = {
  bubblewrap: ["bubblewrap", "tmux"],
  docker: ["docker", "tmux"],
  podman: ["podman", "tmux"],
  "no-sandbox": ["tmux"],
  "test-isolated": ["tmux"],
} as const satisfies Record<SandboxName, readonly Runtime[]>;

export const SANDBOXES = Object.keys(NEEDS) as SandboxName[];

export const TUI = "perl tui.pl";

/** A repository with the agent in it. */
export const repositoryWithAgent = (): string => {
  const cwd = temporaryRepository();
  copyFileSync(join(import.meta.dirname, "../fixtures/tui.pl"), join(cwd, "tui.pl"));
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add the agent");
  return cwd;
};

/** A program at a terminal that makes calls, one after the other. */
export interface Scene {
  readonly cwd: string;
  readonly terminal: Terminal;
  /** A directory for files of the test; nothing of the sandbox's. */
  readonly directory: string;
  /** Where the program has its temporary files. */
  readonly temporary: string;
  /** Sends SIGUSR2 to the program. */
  signal(): void;
  /** Types into the agent, and waits for what it says. */
  typing(keys: string, answer: string | RegExp): Promise<void>;
  /** Types a shell command for the agent, and waits for what it prints. */
  saying(command: string, output: string | RegExp): Promise<void>;
  /** Waits for the program to end; its report. */
  report(): Promise<Report>;
  /** Of the only call. */
  outcome(): Promise<Outcome>;
  /** The command lines of the processes that have the terminal open. */
  users(): string[];
  /** Ends what a program that has crashed may have left: what has its terminal or its mark, and its containers. */
  endOrphans(mark: string): void;
  /** The settings of the terminal before and after the program. */
  settings(): { readonly before: string; readonly after: string };
}

export interface SceneOptions extends TerminalOptions, Pick<Order, "onSignal"> {
  /** What the shell does with the program; the program itself is `"$@"`. */
  readonly shell?: string;
}

/** Starts the program. There is a line on the screen before, as in every shell. */
export const startScene = (
  steps: readonly Step[],
  { onSignal, shell = '"$@"', cwd = repositoryWithAgent(), env, ...terminalOptions }: SceneOptions = {},
): Scene => {
  const directory = temporaryDirectory();
  const temporary = temporaryDirectory();
  const order: Order = { steps, report: join(directory, "report"), ...(onSignal && { onSignal }) };
  const program = bundle(join(import.meta.dirname, "interactiveProgram.ts"));
  const argv = [process.execPath, program, JSON.stringify(order)].map(shellQuote).join(" ");
  const terminal = startTerminal(
    // A key that the terminal makes a signal of is for the program, not for the shell around it.
    `trap : INT; set -- ${argv}; echo '$ start'; tty > ${directory}/tty; stty -a > ${directory}/before; ${shell}; code=$?; stty -a > ${directory}/after; exit $code`,
    { columns: 200, rows: 40, ...terminalOptions, cwd, env: { TMPDIR: temporary, ...env } },
  );
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  const typing = async (keys: string, answer: string | RegExp) => {
    terminal.type(keys);
    await terminal.shows(answer);
  };
  const report = async () => {
    await terminal.ended();
    if (!existsSync(order.report)) throw new Error(`There is no report, but:\n${terminal.history()}`);
    return JSON.parse(read("report")) as Report;
  };
  return {
    cwd,
    terminal,
    directory,
    temporary,
    typing,
    report,
    signal: () => killProcess(read("report.pid"), "SIGUSR2"),
    saying: async (command, output) => {
      terminal.type(`!${command}`);
      terminal.press("Enter");
      await terminal.shows(output);
    },
    outcome: async () => (await report()).outcomes[0] as Outcome,
    users: () =>
      processes()
        .filter(uses(read("tty").trim()))
        .map(({ commandLine }) => commandLine),
    endOrphans: (mark) => {
      const hasTerminal = uses(read("tty").trim());
      const isOwn = (one: Process) => carries(mark)(one) || hasTerminal(one);
      const orphans = processes().filter((one) => isOwn(one) && !SHELL.includes(one.commandLine));
      const files = startFilesOf(orphans.map(({ environment }) => environment));
      for (const { pid } of orphans) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended with another one.
        }
      }
      for (const path of files) rmSync(path, { recursive: true, force: true });
      for (const name of created(cwd, "sandbox")) {
        for (const engine of ["docker", "podman"]) spawnSync(engine, ["rm", "--force", name]);
      }
    },
    settings: () => ({ before: read("before"), after: read("after") }),
  };
};

/** An interactive session in a sandbox, with the agent's interface on the screen. */
export const startSession = async (
  sandbox: SandboxName,
  { agent = TUI, ...options }: Record<string, unknown> & { readonly agent?: string } = {},
  sceneOptions: SceneOptions = {},
): Promise<Scene> => {
  const scene = startScene([{ call: "interactive", sandbox, agent, options }], sceneOptions);
  await scene.terminal.shows(/^in \//m);
  return scene;
};

/** Lets the agent commit. */
export const commit = async ({ terminal }: Scene, message: string): Promise<void> => {
  terminal.type(`c${message}`);
  terminal.press("Enter");
  await terminal.shows(`committed ${message}`);
};

/** What is left in the terminal when the program has ended. */
const SHELL = ["sleep infinity"];

/** Asserts that the terminal is as it was: its settings, the screen, the cursor, pasting; and that it is the shell's again. */
export const expectSaneTerminal = async (scene: Scene): Promise<void> => {
  const { terminal } = scene;
  await terminal.ended();
  const { before, after } = scene.settings();
  expect(after).toBe(before);
  expect(terminal.screen()).toContain("$ start");
  expect(terminal.screen()).not.toContain("greeting");
  expect(terminal.isCursorVisible()).toBe(true);
  const bytes = terminal.bytes();
  expect(bytes).toContain("\u001b[?2004h");
  await waitFor(() => scene.users().length === SHELL.length, 5000).catch(() => {});
  expect(scene.users()).toEqual(SHELL);
  expect(bytes.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(bytes.lastIndexOf("\u001b[?2004h"));
};

/** The names of what a session has created, by its journal. */
export const created = (cwd: string, what: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((name) => name !== ".gitignore")
    .flatMap((run) =>
      readFileSync(join(runs, run, "journal.jsonl"), "utf8")
        .trim()
        .split("\n"),
    )
    .map((line) => JSON.parse(line) as { type: string; what?: string; name?: string })
    .filter((entry) => entry.type === "creating" && entry.what === what)
    .map(({ name = "" }) => name);
};

export const exists = (path: string): Promise<void> => waitFor(() => existsSync(path));

export const subjects = (cwd: string, range: string): string[] =>
  git(cwd, "log", "--format=%s", range)
    .split("\n")
    .filter((subject) => subject !== "");

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { temporaryDirectory } from "../repository/repository.ts";
import { afterTest } from "./sideBySide.ts";
import { processIsAlive, waitFor } from "./waiting.ts";

const CONFIG = `
set -g status off
set -g history-limit 20000
set -g escape-time 0
set -g set-clipboard on
set -g default-terminal tmux-256color
`;

/**
 * A sequence that no terminal knows, with the exit code of the command. It comes after everything that the command
 * has printed: who has read it has read all.
 */
const EXIT_MARK = 7777;
const EXIT = new RegExp(`\u001b\\]${EXIT_MARK};(\\d+)\u0007`);

export interface TerminalOptions {
  readonly cwd?: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A real terminal with a command in it. */
export interface Terminal {
  /** Types text, as it is. */
  type(text: string): void;
  /** Presses a key by its name: `Enter`, `C-c`, `Up`. */
  press(key: string): void;
  /** What is to be seen now: the rows, without blanks at their ends. */
  screen(): string;
  /** All rows since the beginning, also those that have left the screen. */
  history(): string;
  /** The same with escape sequences for the colours. */
  colours(): string;
  /** Every byte that programs have sent to the terminal. */
  bytes(): string;
  resize(columns: number, rows: number): void;
  title(): string;
  clipboard(): string;
  isCursorVisible(): boolean;
  /** Waits until the screen, or what has left it, shows something; fails with the screen if it never does. */
  shows(expected: string | RegExp): Promise<void>;
  /** Waits until the rows that are to be seen are as expected; fails with them if they never are. */
  until(isExpected: (screen: string) => boolean): Promise<void>;
  /** Waits for the command to end and gives its exit code. */
  ended(): Promise<number>;
  /** Ends everything that runs in the terminal. Happens by itself after the test. */
  stop(): Promise<void>;
}

/** Ends the terminal with everything in it when the test is over. Each terminal has a tmux server of its own. */
export const startTerminal = (
  command: string,
  { cwd = "/", columns = 80, rows = 24, env = {} }: TerminalOptions = {},
): Terminal => {
  const directory = temporaryDirectory();
  const bytesFile = join(directory, "bytes");
  const configFile = join(directory, "config");
  // Ctrl-C is for the command, not for the shell around it.
  const shell = `trap : INT; sh -c ${shellQuote(command)}; printf '\\033]${EXIT_MARK};%s\\007' $?; exec sleep infinity`;
  writeFileSync(configFile, CONFIG);
  writeFileSync(bytesFile, "");
  const { TMUX: _, NO_COLOR: __, TERM: ___, ...inherited } = process.env;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-u", "-S", join(directory, "socket"), "-f", configFile, ...args], {
      encoding: "utf8",
      cwd,
      env: { ...inherited, LC_ALL: "C.UTF-8" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const tell = (format: string): string => tmux("display-message", "-p", format).trimEnd();
  const recorded = (): string => readFileSync(bytesFile, "utf8");
  const rowsOf = (text: string): string => text.replace(/[ \t]+$/gm, "").trimEnd();
  const screen = () => rowsOf(tmux("capture-pane", "-p"));
  const history = () => rowsOf(tmux("capture-pane", "-p", "-S", "-"));

  /** Waits for what the terminal shows. Asking tmux takes a process each time: only when something was printed. */
  const waitForRows = async (read: () => string, isExpected: (rows: string) => boolean): Promise<void> => {
    let seen: number | undefined;
    await waitFor(() => {
      const { size: printed } = statSync(bytesFile);
      if (printed === seen) return false;
      seen = printed;
      return isExpected(read());
    });
  };

  const settings = Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const size = (width: number, height: number) => ["-x", String(width), "-y", String(height)];
  const stop = async () => {
    if (!existsSync(join(directory, "socket"))) return;
    const server = Number(tmux("display-message", "-p", "#{pid}", ";", "kill-server"));
    await waitFor(() => !processIsAlive(server));
  };
  afterTest(stop);
  // In one go, so that nothing is printed before the bytes are recorded.
  tmux(
    ...[
      "new-session",
      "-d",
      "-c",
      cwd,
      ...size(columns, rows),
      ...settings,
      `exec sh -c ${shellQuote(shell)}`,
    ],
    ...[";", "pipe-pane", "-O", `cat >> ${shellQuote(bytesFile)}`],
  );
  return {
    type: (text) => void tmux("send-keys", "-l", "--", text),
    press: (key) => void tmux("send-keys", key),
    screen,
    history,
    colours: () => rowsOf(tmux("capture-pane", "-p", "-e", "-S", "-")),
    bytes: () => recorded().replace(EXIT, ""),
    resize: (width, height) => void tmux("resize-window", ...size(width, height)),
    title: () => tell("#{pane_title}"),
    clipboard: () => tmux("list-buffers", "-F", "#{buffer_sample}"),
    isCursorVisible: () => tell("#{cursor_flag}") === "1",
    shows: (expected) => {
      const isThere = (text: string) =>
        typeof expected === "string" ? text.includes(expected) : expected.test(text);
      return waitForRows(history, isThere).catch(() => {
        throw new Error(`The terminal does not show ${expected}, but:\n${history()}`);
      });
    },
    until: (isExpected) =>
      waitForRows(screen, isExpected).catch(() => {
        throw new Error(`The terminal never was as expected by ${isExpected}. It shows:\n${screen()}`);
      }),
    ended: async () => {
      await waitFor(() => EXIT.test(recorded())).catch(() => {
        throw new Error(`The command has not ended. The terminal shows:\n${history()}`);
      });
      return Number(EXIT.exec(recorded())?.[1]);
    },
    stop,
  };
};

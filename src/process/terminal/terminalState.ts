import { spawn, spawnSync } from "node:child_process";
import { findProgram } from "../hostPrograms.ts";
import { writeSafely } from "../writeSafely.ts";
import { swallowAnswers } from "./swallowAnswers.ts";

/**
 * Resets the modes that a full-screen program may have left after a crash. It has no effect on a terminal in its normal
 * state. (1047 rather than 1049, which would also move the cursor.)
 */
const SANE_SCREEN = [
  "\u001b[?1047l", // the alternate screen
  "\u001b7\u001b[r\u001b8", // scrolling in a part of the screen; the cursor stays where it is
  "\u001b[?25h", // a hidden cursor
  "\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?1015l", // reports of the mouse
  "\u001b[?1004l\u001b[?2004l\u001b[?2026l", // reports of the focus, marks around pasted text, held back output
  "\u001b[<99u\u001b[>4;0m\u001b[?1l\u001b>\u001b[4l", // other codes for keys, and text that moves what is there aside
  "\u001b(B\u000f\u001b[?7h\u001b[?5l\u001b[0m", // line drawing characters, lines that do not wrap, colours
].join("");

/** The settings of the terminal, in stty's format; `undefined` if they are unknown. */
const readSettings = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const stty = spawn(findProgram("stty"), ["-g"], { stdio: ["inherit", "pipe", "ignore"] });
    let settings = "";
    stty.stdout.on("data", (chunk: Buffer) => {
      settings += chunk.toString();
    });
    stty.on("error", () => resolve(undefined));
    stty.on("close", (code) => resolve(code === 0 ? settings.trim() : undefined));
  });

/**
 * A killed program may have left this process in the terminal's background. A process that changes the settings from there
 * is stopped, unless it has its own session.
 */
const OWN_SESSION = { detached: true };

const writeSettings = (settings: string): Promise<void> =>
  new Promise((resolve) => {
    const stty = spawn(findProgram("stty"), [settings], {
      stdio: ["inherit", "ignore", "ignore"],
      ...OWN_SESSION,
    });
    stty.on("error", () => resolve());
    stty.on("close", () => resolve());
  });

const EXIT_TIMEOUT_MS = 1000;

/** Saves the terminal's settings. The returned function restores them, and so does the process's end. */
export const rememberTerminal = async (): Promise<() => Promise<void>> => {
  const settings = await readSettings();
  const onExit = () => {
    if (settings !== undefined) {
      const limits = { timeout: EXIT_TIMEOUT_MS, killSignal: "SIGKILL" } as const;
      spawnSync(findProgram("stty"), [settings], {
        stdio: ["inherit", "ignore", "ignore"],
        ...limits,
        ...OWN_SESSION,
      });
    }
    writeSafely(process.stdout, SANE_SCREEN);
  };
  process.once("exit", onExit);
  return async () => {
    await swallowAnswers();
    process.off("exit", onExit);
    if (settings !== undefined) await writeSettings(settings);
    writeSafely(process.stdout, SANE_SCREEN);
  };
};

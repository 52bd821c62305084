import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { bundle } from "../helpers/bundle.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import type { AttackOutcome, AttackScene } from "./attackedHost.ts";

/** The directory on the host in which agents keep their sessions, of this test alone. */
export const hostHome = (): string => {
  const directory = temporaryDirectory();
  for (const variable of ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"]) {
    vi.stubEnv(variable, directory);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
};

export const projectOf = (home: string, cwd: string): string =>
  join(home, "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));

/** All files below a directory, as relative paths. */
export const filesIn = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true })
        .map(String)
        .filter((name) => statSync(join(directory, name)).isFile())
        .sort()
    : [];

const LIMIT_MS = 110_000;

/**
 * Plays an attack against a process of its own. It is killed, and the test fails, when it does not come to an end by
 * itself.
 */
export const attackProcess = async (
  scene: AttackScene,
  { heapMegabytes = 1024 }: { readonly heapMegabytes?: number } = {},
): Promise<AttackOutcome> => {
  const directory = temporaryDirectory();
  const file = join(directory, "scene.json");
  writeFileSync(file, JSON.stringify(scene));
  const program = bundle(join(import.meta.dirname, "attackedHost.ts"), directory);
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMegabytes}`, program, file], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const ending = await new Promise((resolve) =>
    child.on("close", (code, signal) => resolve(signal ?? code)),
  ).finally(() => clearTimeout(timer));
  if (ending !== 0) throw new Error(`the process ended with ${ending}: ${stderr.slice(-300)}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
};

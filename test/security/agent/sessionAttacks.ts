import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished, vi } from "vitest";
import { type CaptureOptions, SessionCapture } from "../../../src/agentSessions/captureSession.ts";
import { copySessionIn } from "../../../src/agentSessions/copySessionIn.ts";
import { findHostSession } from "../../../src/agentSessions/hostSessions.ts";
import { type AgentProvider, type AgentSessions, claudeCode } from "../../../src/index.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { bundle } from "../../helpers/bundle.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { openIsolated } from "../../sandboxes/openSandbox.ts";
import type { AttackScene } from "./attackedHost.ts";
import { IN_PROJECT } from "./posing.ts";

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

export interface SessionScene {
  /** Where agents keep their sessions on the host. */
  readonly home: string;
  readonly cwd: string;
  /** Where Claude Code keeps those of that directory. */
  readonly project: string;
  readonly handle: IsolatedSandboxHandle;
  /** Does something where the agent keeps its sessions in the sandbox. */
  inProject(...lines: readonly string[]): Promise<void>;
  /** Copies in a session of the host, which is resumed. */
  bring(sessionId: string): Promise<void>;
  /** Captures the session of that name: gives its file on the host. */
  capture(sessionId?: string, options?: Partial<CaptureOptions>): Promise<string>;
}

/** A sandbox in which Claude Code may have worked, and a host for its sessions: what a run has, without the run. */
export const sessionScene = async (cwd = temporaryDirectory()): Promise<SessionScene> => {
  const home = hostHome();
  const handle = await openIsolated(testIsolated());
  onTestFinished(() => handle.close());
  const agent = claudeCode("m") as AgentProvider & { readonly sessions: AgentSessions };
  const capture = new SessionCapture();
  const common = () => ({
    sessions: agent.sessions,
    handle,
    places: {
      hostRoot: cwd,
      hostCwd: cwd,
      sandboxRoot: handle.worktreePath,
      sandboxCwd: handle.worktreePath,
    },
    workDirectory: join(temporaryDirectory(), "work"),
    signal: new AbortController().signal,
    redactCaptured: (text: string) => text,
  });
  return {
    home,
    cwd,
    project: projectOf(home, cwd),
    handle,
    inProject: async (...lines) => {
      const { exitCode, stderr } = await handle.exec([IN_PROJECT, ...lines].join("\n"));
      if (exitCode !== 0) throw new Error(stderr);
    },
    bring: async (sessionId) => {
      const files = findHostSession(agent, sessionId, cwd);
      capture.resumes((await copySessionIn({ ...common(), sessionId, files })).files);
    },
    capture: (sessionId = "abc", options = {}) =>
      capture.capture({ ...common(), sessionId, runId: randomUUID(), ...options }),
  };
};

const ATTACKED_HOST = join(import.meta.dirname, "attackedHost.ts");
const LIMIT_MS = 90_000;

/**
 * Plays attacks against a process of its own, and tells how each has ended: `succeeded`, or the name of its error. Fails
 * if the process does not come to a good end by itself.
 */
export const attackProcess = async <Name extends string>(
  scenes: Readonly<Record<Name, AttackScene>>,
  { heapMegabytes }: { readonly heapMegabytes: number },
): Promise<Record<Name, string>> => {
  const directory = temporaryDirectory();
  const file = join(directory, "scenes.json");
  writeFileSync(file, JSON.stringify(scenes));
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMegabytes}`, bundle(ATTACKED_HOST), file],
    {
      env: { ...process.env, TMPDIR: directory },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  clearTimeout(timer);
  const lines = stdout.split("\n");
  const outcomes = Object.keys(scenes).flatMap((name) => {
    const line = lines.find((line) => line.startsWith(`${name}: `));
    return line === undefined ? [] : [[name, line.slice(`${name}: `.length)]];
  });
  if (exitCode !== 0 || outcomes.length < Object.keys(scenes).length) {
    const reached = outcomes.map((outcome) => outcome.join(": ")).join("\n");
    throw new Error(`the process ended with ${signal ?? exitCode}:\n${reached}\n${stderr.slice(-1000)}`);
  }
  return Object.fromEntries(outcomes);
};

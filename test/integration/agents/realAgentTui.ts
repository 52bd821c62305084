import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import {
  AGENT_PATH,
  agentMount,
  type OfflineAgent,
  offlineAgent,
  writeAgentFiles,
} from "../../helpers/agents/agents.ts";
import { bundle } from "../../helpers/bundle.ts";
import type { ModelServer } from "../../helpers/modelServer/server.ts";
import { argvOf, processesWith } from "../../helpers/processes/processes.ts";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { AGENTS as AGENTS_ON_HOST, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import type { TuiAgentName, TuiOrder, TuiReport, TuiSandboxName } from "./realAgentTuiProgram.ts";

export type { TuiAgentName, TuiSandboxName } from "./realAgentTuiProgram.ts";

/** opencode alone takes some twenty seconds on a busy machine. */
const OPENING_MS = 200_000;
/** Each look at a screen is a process. */
const LOOKING_MS = 100;

/** The program that shows an agent. */
const PROGRAM = join(import.meta.dirname, "realAgentTuiProgram.ts");

/** A real agent at a terminal. */
export interface TuiScene {
  readonly cwd: string;
  /** The home directory of the person at the terminal. */
  readonly home: string;
  readonly terminal: Terminal;
  /** Waits until the screen shows something. Some agents take long to open. */
  sees(text: string): Promise<void>;
  /** The arguments of the agent's own process. */
  argv(): readonly string[];
  /** Waits for the session to end. */
  report(): Promise<TuiReport>;
}

export interface TuiSceneOptions {
  readonly agent: TuiAgentName;
  readonly sandbox: TuiSandboxName;
  readonly model: ModelServer;
  readonly prompt?: string;
  /** Shell commands that have run in the sandbox before. */
  readonly before?: readonly string[];
  /** Env vars instead of those that the agent is usually given. */
  readonly env?: (offline: OfflineAgent) => Readonly<Record<string, string>>;
  /** What the person has in their home directory. */
  readonly files?: (offline: OfflineAgent, cwd: string) => Readonly<Record<string, string>>;
}

/** Shows an agent at a terminal, as somebody would who has never used it. */
export const startTui = ({
  agent,
  sandbox,
  model,
  prompt,
  before = [],
  files,
  env,
}: TuiSceneOptions): TuiScene => {
  const cwd = temporaryRepository();
  const home = temporaryDirectory();
  const directory = temporaryDirectory();
  const offline = offlineAgent(agent, model.url);
  writeFiles(home, files?.(offline, cwd) ?? {});
  const isOnHost = sandbox === "no-sandbox";
  const variables = { ...(!isOnHost && { PATH: AGENT_PATH }), ...(env?.(offline) ?? offline.env) };
  const onSandboxReady = [writeAgentFiles(offline), ...before].map((command) => ({ command }));
  const order: TuiOrder = {
    agent,
    model: offline.model,
    sandbox,
    image: TEST_IMAGE,
    mounts: [agentMount()],
    path: AGENT_PATH,
    report: join(directory, "report"),
    options: {
      ...(prompt !== undefined && { prompt }),
      env: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, { public: value }])),
      ...(!isOnHost && { hooks: { sandbox: { onSandboxReady } } }),
    },
  };
  const argv = [process.execPath, bundle(PROGRAM), JSON.stringify(order)].map(shellQuote).join(" ");
  // tmux gives programs a PATH of its own.
  const path = `${join(AGENTS_ON_HOST, "bin")}:${process.env["PATH"]}`;
  const terminal = startTerminal(`PATH=${shellQuote(path)} exec ${argv}`, {
    cwd,
    columns: 120,
    rows: 40,
    env: { HOME: home, TMPDIR: temporaryDirectory() },
  });
  return {
    cwd,
    home,
    terminal,
    sees: async (text) => {
      const deadline = performance.now() + OPENING_MS;
      while (!terminal.screen().includes(text)) {
        if (existsSync(order.report) || performance.now() > deadline)
          throw new Error(`The terminal does not show ${text}, but:\n${terminal.screen()}`);
        await delay(LOOKING_MS);
      }
    },
    argv: () =>
      processesWith(`HOME=${home}\0`, "environ")
        .map(argvOf)
        .find((argv) => argv.includes(offline.model)) ?? [],
    report: async () => {
      await terminal.ended();
      if (!existsSync(order.report)) throw new Error(`There is no report, but:\n${terminal.history()}`);
      return JSON.parse(readFileSync(order.report, "utf8")) as TuiReport;
    },
  };
};

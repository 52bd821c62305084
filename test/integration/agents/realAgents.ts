import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import {
  type AgentProvider,
  type AgentStreamEvent,
  claudeCode,
  codex,
  copilot,
  gemini,
  opencode,
  pi,
  type RunOptions,
  type RunResult,
  run,
  type SandboxProvider,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import {
  AGENT_PATH,
  agentMount,
  type OfflineAgentName,
  offlineAgent,
  writeAgentFiles,
} from "../../helpers/agents/agents.ts";
import type { Script } from "../../helpers/modelServer/script.ts";
import { type ModelServer, startModelServer } from "../../helpers/modelServer/server.ts";
import { afterTest } from "../../helpers/processes/sideBySide.ts";
import { type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

/** All agents whose programs can be had from npm, the slowest first. Their names are those of their programs. */
export const AGENTS = {
  opencode: { runtime: "opencode" },
  claude: { runtime: "claude code" },
  codex: { runtime: "codex" },
  pi: { runtime: "pi" },
  gemini: { runtime: "gemini" },
  copilot: { runtime: "copilot" },
} as const satisfies Record<OfflineAgentName, { readonly runtime: Runtime }>;
export type AgentName = keyof typeof AGENTS;
export const AGENT_NAMES = Object.keys(AGENTS) as readonly AgentName[];

/** Some of the programs take seconds to begin, and much longer where others are busy. */
export const PATIENCE = { timeout: 300_000 };

export const PROVIDERS: Readonly<Record<AgentName, (model: string) => AgentProvider>> = {
  claude: claudeCode,
  codex,
  opencode,
  pi,
  gemini,
  copilot,
};

/** Sandboxes that reach the scripted model on the host's loopback, and have the agents. */
export const SANDBOXES = {
  docker: (): SandboxProvider => docker({ imageName: TEST_IMAGE, network: "host", mounts: [agentMount()] }),
  bubblewrap: (): SandboxProvider => bubblewrap({ network: true, path: AGENT_PATH, mounts: [agentMount()] }),
} as const;
export type SandboxName = keyof typeof SANDBOXES;

/** Gives the tests of a file a home directory for what is captured. Sessions have names of their own, so all can share it. */
export const useTemporaryHome = (): (() => string) => {
  let home = "";
  let former: string | undefined;
  beforeAll(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-home-")));
    former = process.env["HOME"];
    process.env["HOME"] = home;
  });
  afterAll(() => {
    if (former === undefined) delete process.env["HOME"];
    else process.env["HOME"] = former;
    rmSync(home, { recursive: true, force: true });
  });
  return () => home;
};

/** A model that plays a script, for as long as the test takes. */
export const scriptedModel = async (script: Script): Promise<ModelServer> => {
  const server = await startModelServer(script);
  afterTest(() => server.close());
  return server;
};

/** Creates a file, commits it, and says that it is done. */
export const COMMITTING = [
  {
    text: "On it.",
    calls: [{ shell: "echo hello > hello.txt && git add hello.txt && git commit -qm 'Add a greeting'" }],
  },
  { text: "All done. <promise>COMPLETE</promise>" },
] as const satisfies Script;

export interface RealRun {
  readonly agent: AgentName;
  readonly sandbox: SandboxName;
  readonly model: ModelServer;
  readonly cwd: string;
  readonly options?: Partial<RunOptions>;
  readonly provider?: (model: string) => AgentProvider;
}

/** Env vars that have no secrets in them. */
export const publicEnv = (env: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { public: value }]));

/** Runs the real program of an agent in a sandbox, with a scripted model. */
export const runReal = ({ agent, sandbox, model, cwd, options, provider }: RealRun): Promise<RunResult> => {
  const offline = offlineAgent(agent, model.url);
  return run({
    agent: (provider ?? PROVIDERS[agent])(offline.model),
    sandbox: SANDBOXES[sandbox](),
    branchStrategy: { type: "branch", branch: "agent/work" },
    cwd,
    prompt: "Greet the world, and commit.",
    env: publicEnv({ PATH: AGENT_PATH, ...offline.env }),
    hooks: { sandbox: { onSandboxReady: [{ command: writeAgentFiles(offline) }] } },
    ...options,
  } as RunOptions);
};

/** What the model has been sent, each request as text. */
export const turnsOf = ({ requests }: ModelServer): string[] =>
  requests.filter(({ kind }) => kind === "turn").map(({ body }) => JSON.stringify(body));

/** Collects the events of a run. */
export const listening = () => {
  const events: AgentStreamEvent[] = [];
  return {
    events,
    logging: { type: "file", onAgentStreamEvent: (event: AgentStreamEvent) => events.push(event) },
  } as const;
};

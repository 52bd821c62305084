import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { offlineAgent } from "../helpers/agents.ts";
import type { ModelServer } from "../helpers/modelServer/server.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { AGENTS as AGENTS_DIRECTORY, describeWith } from "../helpers/runtimes.ts";
import {
  AGENTS,
  COMMITTING,
  runReal,
  type SandboxName,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

/** How a person goes on with a session, each agent by its own command line. */
const COMMAND_LINES = {
  claude: (id: string, prompt: string) => ["--resume", id, "-p", prompt],
  codex: (id: string, prompt: string) => ["exec", "resume", "-m", "gpt-5.5", id, prompt],
  pi: (id: string, prompt: string) => ["-p", "--model", "scripted/scripted-model", "--session", id, prompt],
} as const;
type NativeAgent = keyof typeof COMMAND_LINES;

/** Runs the agent itself, without sanddune, as its user would: in the repository, with what is in the home directory. */
const runNatively = async (
  agent: NativeAgent,
  args: readonly string[],
  { home, cwd, model }: { readonly home: string; readonly cwd: string; readonly model: ModelServer },
): Promise<string> => {
  const { env, files = {} } = offlineAgent(agent, model.url);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const running = promisify(execFile)(join(AGENTS_DIRECTORY, "bin", agent), args, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: home, ...env },
    timeout: 50_000,
  });
  // With an input that stays open, some of them wait for more.
  running.child.stdin?.end();
  return (await running).stdout;
};

const SANDBOXES: Readonly<Record<NativeAgent, SandboxName>> = {
  claude: "docker",
  codex: "bubblewrap",
  pi: "bubblewrap",
};

for (const agent of Object.keys(COMMAND_LINES) as NativeAgent[]) {
  const sandbox = SANDBOXES[agent];
  describeWith(
    [AGENTS[agent].runtime, sandbox],
    `the real ${agent} on the host, after a run in ${sandbox},`,
    () => {
      it("goes on with the run's conversation by its own command line, and a run goes on from there", async () => {
        const home = temporaryHome();
        const cwd = temporaryRepository();
        const model = await scriptedModel([
          ...COMMITTING,
          { text: "I was in a sandbox." },
          { text: "I was everywhere." },
        ]);
        const first = await runReal({ agent, sandbox, model, cwd });
        const { sessionId = "", sessionFilePath = "" } = first.iterations[0] ?? {};

        const said = await runNatively(agent, COMMAND_LINES[agent](sessionId, "Where were you?"), {
          home,
          cwd,
          model,
        });
        expect(said).toContain("I was in a sandbox.");
        const request = turnsOf(model).at(-1) ?? "";
        expect(request).toContain("Greet the world, and commit.");
        expect(request).toContain("echo hello > hello.txt");
        expect(request).toContain("Where were you?");
        expect(request).toContain(cwd);
        expect(request).not.toContain("/sanddune/repo");
        expect(readFileSync(sessionFilePath, "utf8")).toContain("I was in a sandbox.");

        const second = await first.resume("And now?");
        expect(second.stdout).toContain("I was everywhere.");
        expect(second.warnings).toEqual([]);
        expect(second.usage?.outputTokens).toBe(34);
        const last = turnsOf(model).at(-1) ?? "";
        expect(last).toContain("Where were you?");
        expect(last).not.toContain(cwd);
        expect(second.iterations[0]?.sessionFilePath).toBe(sessionFilePath);
      });
    },
  );
}

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { claudeCodeProject } from "../../../src/agents/claudeCode/sessions.ts";
import { piProject } from "../../../src/agents/pi/sessions.ts";
import { AgentSessionNotFoundError, claudeCode, codex, type RunResult } from "../../../src/index.ts";
import { offlineAgent } from "../../helpers/agents/agents.ts";
import type { ModelServer } from "../../helpers/modelServer/server.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { AGENTS as AGENTS_DIRECTORY, describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENTS,
  COMMITTING,
  PATIENCE,
  runReal,
  type SandboxName,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "./realAgents.ts";

const home = useTemporaryHome();

const PROMPT = "Greet the world, and commit.";

const sessionOf = ({ iterations }: RunResult) => {
  const { sessionId = "", sessionFilePath = "" } = iterations.at(-1) ?? {};
  return { id: sessionId, path: sessionFilePath };
};

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Where an agent has the sessions of those who work in a directory. */
const IN_HOME = {
  claude: (cwd: string) => join(home(), ".claude/projects", claudeCodeProject(cwd)),
  pi: (cwd: string) => join(home(), ".pi/agent/sessions", piProject(cwd)),
};

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
  { cwd, model }: { readonly cwd: string; readonly model: ModelServer },
): Promise<string> => {
  const { env, files = {} } = offlineAgent(agent, model.url);
  writeFiles(home(), files);
  const running = promisify(execFile)(join(AGENTS_DIRECTORY, "bin", agent), args, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: home(), TMPDIR: temporaryDirectory(), ...env },
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

describeSideBySide("the session of a real agent", () => {
  for (const agent of ["claude", "codex", "pi"] as const) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
      it(
        "begins a session for each iteration, and its tokens are counted for each and in all",
        PATIENCE,
        async () => {
          const cwd = temporaryRepository();
          const model = await scriptedModel([
            { text: "Once.", usage: { input: 100, output: 10, cacheRead: 1000, cacheWrite: 0 } },
            { text: "Twice.", usage: { input: 200, output: 20, cacheRead: 2000, cacheWrite: 0 } },
          ]);
          const options = { maxIterations: 2 };
          const result = await runReal({ agent, sandbox: "bubblewrap", model, cwd, options });
          expect(result.iterations.map(({ usage }) => usage)).toEqual([
            { inputTokens: 100, outputTokens: 10, cacheReadInputTokens: 1000, cacheCreationInputTokens: 0 },
            { inputTokens: 200, outputTokens: 20, cacheReadInputTokens: 2000, cacheCreationInputTokens: 0 },
          ]);
          expect(result.usage).toEqual({
            inputTokens: 300,
            outputTokens: 30,
            cacheReadInputTokens: 3000,
            cacheCreationInputTokens: 0,
          });
          const [one, two] = result.iterations.map(({ sessionFilePath = "" }) =>
            readFileSync(sessionFilePath, "utf8"),
          );
          expect(one).toContain("Once.");
          expect(two).toContain("Twice.");
          expect(two).not.toContain("Once.");
        },
      );
    });

    const sandbox = SANDBOXES[agent];
    describeWith(
      [AGENTS[agent].runtime, sandbox],
      `the real ${agent} on the host, after a run in ${sandbox},`,
      () => {
        it(
          "continues with the run's conversation by its own command line, and a run goes on from there",
          PATIENCE,
          async () => {
            const cwd = temporaryRepository();
            const model = await scriptedModel([
              ...COMMITTING,
              { text: "I was in a sandbox." },
              { text: "I was everywhere." },
            ]);
            const first = await runReal({ agent, sandbox, model, cwd });
            const { sessionId = "", sessionFilePath = "" } = first.iterations[0] ?? {};

            const said = await runNatively(agent, COMMAND_LINES[agent](sessionId, "Where were you?"), {
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
          },
        );
      },
    );
  }

  for (const agent of ["claude", "pi"] as const) {
    describeWith(
      [AGENTS[agent].runtime, "bubblewrap"],
      `the real ${agent} below the top of a repository`,
      () => {
        it(
          "has its session where it would be had it worked there on the host, and goes on with it",
          PATIENCE,
          async () => {
            const repository = temporaryRepository();
            const below = join(repository, "packages/an app");
            mkdirSync(below, { recursive: true });
            writeFileSync(join(below, "package.json"), "{}\n");
            git(repository, "add", ".");
            git(repository, "commit", "--quiet", "-m", "Add a package");
            const model = await scriptedModel([...COMMITTING, { text: "I remember." }]);
            const first = await runReal({ agent, sandbox: "bubblewrap", model, cwd: below });
            expect(first.warnings).toEqual([]);
            expect(git(repository, "show", "agent/work:packages/an app/hello.txt")).toBe("hello");
            const { path } = sessionOf(first);
            expect(dirname(path)).toBe(IN_HOME[agent](below));
            expect(readFileSync(path, "utf8")).toContain(JSON.stringify(below));
            const second = await first.resume("What did you do?");
            expect(sessionOf(second)).toEqual(sessionOf(first));
            expect(turnsOf(model).at(-1)).toContain(PROMPT);
            expect(turnsOf(model).at(-1)).not.toContain(repository);
          },
        );
      },
    );
  }

  describeWith(["claude code", "bubblewrap"], "the real claude", () => {
    it(
      "leaves nothing in the home directory where its sessions are not to be captured",
      PATIENCE,
      async () => {
        const cwd = temporaryRepository();
        const model = await scriptedModel(COMMITTING);
        const provider = (name: string) => claudeCode(name, { captureSessions: false });
        const result = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd, provider });
        expect(result.iterations[0]?.sessionId).toBeTruthy();
        expect(result.iterations[0]?.sessionFilePath).toBeUndefined();
        expect(existsSync(IN_HOME.claude(cwd))).toBe(false);
        await expect(result.resume("What did you do?")).rejects.toThrow(AgentSessionNotFoundError);
      },
    );

    it(
      "has no session captured that it has put elsewhere, and the run tells so but does not fail",
      PATIENCE,
      async () => {
        const cwd = temporaryRepository();
        // Claude Code writes its session when it has time for it, and would make a file anew that is gone for a moment.
        const hide =
          "until file=$(ls ~/.claude/projects/*/*.jsonl); do sleep 0.1; done; " +
          'cp "$file" /tmp/elsewhere && ln -s /tmp/elsewhere "$file.link" && mv -T "$file.link" "$file"';
        const model = await scriptedModel([{ calls: [{ shell: hide }] }, ...COMMITTING]);
        const result = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd });
        expect(result.commits).toHaveLength(1);
        expect(result.iterations[0]?.sessionFilePath).toBeUndefined();
        expect(result.warnings).toEqual([
          expect.stringMatching(/^The agent's session.* was not captured: \S+ is a symbolic link\.?$/),
        ]);
        expect(existsSync(IN_HOME.claude(cwd))).toBe(false);
        expect(leftovers(cwd)).toEqual([]);
      },
    );

    it(
      "has what its subagents said and what its tools printed brought along, with the paths of each place",
      PATIENCE,
      async () => {
        const cwd = temporaryRepository();
        const subagent = {
          name: "Agent",
          input: { description: "look", prompt: "Look around, subagent.", subagent_type: "general-purpose" },
        };
        const model = await scriptedModel([
          { calls: [{ shell: "pwd; seq 1 60000" }] },
          { calls: [subagent] },
          { text: "Looked." },
        ]);
        const options = { completionTimeoutMs: 10_000 };
        const first = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd, options });
        expect(first.warnings).toEqual([]);
        const { id, path } = sessionOf(first);
        const beside = filesIn(join(dirname(path), id));
        const [transcript = ""] = beside.filter((file) => /\/subagents\/agent-[^/]+\.jsonl$/.test(file));
        const [printed = ""] = beside.filter((file) => /\/tool-results\/[^/]+\.txt$/.test(file));
        expect(beside.filter((file) => file.endsWith(".meta.json"))).toHaveLength(1);
        expect(readFileSync(transcript, "utf8")).toContain("Look around, subagent.");
        expect(readFileSync(transcript, "utf8")).toContain(`"cwd":"${cwd}"`);
        expect(readFileSync(transcript, "utf8")).not.toContain("/sanddune/repo");
        expect(readFileSync(printed, "utf8")).toContain("\n60000\n");
        expect(readFileSync(path, "utf8")).toContain(printed);

        const second = await first.resume("What did it print?");
        expect(second.warnings).toEqual([]);
        const lastRequest = turnsOf(model).at(-1) ?? "";
        const [, inSandbox = ""] = /Full output saved to: (\S+?\.txt)/.exec(lastRequest) ?? [];
        expect(inSandbox).toMatch(/-sanddune-repo\/[^/]+\/tool-results\//);
        expect(lastRequest).not.toContain(home());
        expect(existsSync(printed)).toBe(true);
        expect(existsSync(transcript)).toBe(true);
      },
    );
  });

  describeWith(["codex", "bubblewrap"], "the real codex with a subagent", () => {
    it("has the transcript of its subagent captured beside its own", PATIENCE, async () => {
      const cwd = temporaryRepository();
      const model = await scriptedModel([
        { calls: [{ name: "spawn_agent", input: { message: "Look around, and report." } }] },
        { text: "Reported. <promise>COMPLETE</promise>" },
      ]);
      const result = await runReal({
        agent: "codex",
        sandbox: "bubblewrap",
        model,
        cwd,
        provider: () => codex("gpt-6"),
      });
      expect(result.warnings).toEqual([]);
      const { sessionId = "", sessionFilePath = "" } = result.iterations[0] ?? {};
      const directory = dirname(sessionFilePath);
      const transcripts = readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), "utf8"))
        .filter((text) => text.includes(sessionId))
        .map((text) => ({ text, head: JSON.parse(text.split("\n")[0] ?? "").payload }))
        .filter(({ head }) => head.session_id === sessionId);
      expect(transcripts).toHaveLength(2);
      expect(transcripts.map(({ head }) => head.cwd)).toEqual([cwd, cwd]);
      for (const { text } of transcripts) expect(text).not.toContain("/sanddune/repo");
    });
  });
});

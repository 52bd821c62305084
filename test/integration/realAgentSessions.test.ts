import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { claudeCodeProject } from "../../src/agents/claudeCodeSessions.ts";
import { piProject } from "../../src/agents/pi.ts";
import { AgentSessionNotFoundError, claudeCode, type RunResult } from "../../src/index.ts";
import { leftovers } from "../helpers/leftovers.ts";
import type { Script } from "../helpers/modelServer/script.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import {
  AGENTS,
  type AgentName,
  COMMITTING,
  runReal,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

const PROMPT = "Greet the world, and commit.";

const sessionOf = ({ iterations }: RunResult) => {
  const { sessionId = "", sessionFilePath = "" } = iterations.at(-1) ?? {};
  return { id: sessionId, path: sessionFilePath };
};

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** A first run, with the script for everything that follows. */
const begin = async (
  agent: AgentName,
  then: Script & readonly unknown[] = [],
  cwd = temporaryRepository(),
) => {
  const home = temporaryHome();
  const model = await scriptedModel([...COMMITTING, ...(then as typeof COMMITTING)]);
  const first = await runReal({ agent, sandbox: "bubblewrap", model, cwd });
  return { home, cwd, model, first };
};

for (const agent of Object.keys(AGENTS) as AgentName[]) {
  describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
    it("goes on in a copy of its session, and the session itself stays as it is", {
      timeout: 300_000,
    }, async () => {
      const { cwd, model, first } = await begin(agent, [{ text: "I am the copy." }]);
      const parent = sessionOf(first);
      const before = readFileSync(parent.path);
      const second = await first.fork("What did you do?");
      const copy = sessionOf(second);
      expect(copy.id).not.toBe(parent.id);
      expect(copy.path).not.toBe(parent.path);
      expect(readFileSync(parent.path)).toEqual(before);
      const history = readFileSync(copy.path, "utf8");
      expect(history).toContain(PROMPT);
      expect(history).toContain("I am the copy.");
      const lastRequest = turnsOf(model).at(-1) ?? "";
      expect(lastRequest).toContain(PROMPT);
      expect(lastRequest).toContain("What did you do?");
      expect(second.usage?.outputTokens).toBe(34);
      expect(second.warnings).toEqual([]);
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

for (const agent of ["claude", "codex", "pi"] as const) {
  describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}, which is fast,`, () => {
    it("can have its session and a copy of it gone on with in turn, each with its own memory", async () => {
      const { model, first } = await begin(agent, [
        { text: "Copied." },
        { text: "Copied again." },
        { text: "Original." },
      ]);
      const copy = await first.fork("Take the left way.");
      await copy.resume("Further left.");
      expect(turnsOf(model).at(-1)).toContain("Take the left way.");
      await first.resume("Take the right way.");
      expect(turnsOf(model).at(-1)).toContain(PROMPT);
      expect(turnsOf(model).at(-1)).not.toContain("Take the left way.");
    });

    it("begins a session for each iteration, and its tokens are counted for each and in all", async () => {
      temporaryHome();
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
    });
  });
}

const IN_PROJECT = {
  claude: (home: string, cwd: string) => join(home, ".claude/projects", claudeCodeProject(cwd)),
  pi: (home: string, cwd: string) => join(home, ".pi/agent/sessions", piProject(cwd)),
};

for (const agent of ["claude", "pi"] as const) {
  describeWith(
    [AGENTS[agent].runtime, "bubblewrap"],
    `the real ${agent} below the top of a repository`,
    () => {
      it("has its session where it would be had it worked there on the host, and goes on with it", async () => {
        const repository = temporaryRepository();
        const below = join(repository, "packages/an app");
        mkdirSync(below, { recursive: true });
        writeFileSync(join(below, "package.json"), "{}\n");
        git(repository, "add", ".");
        git(repository, "commit", "--quiet", "-m", "Add a package");
        const { home, model, first } = await begin(agent, [{ text: "I remember." }], below);
        expect(first.warnings).toEqual([]);
        expect(git(repository, "show", "agent/work:packages/an app/hello.txt")).toBe("hello");
        const { path } = sessionOf(first);
        expect(dirname(path)).toBe(IN_PROJECT[agent](home, below));
        expect(readFileSync(path, "utf8")).toContain(JSON.stringify(below));
        const second = await first.resume("What did you do?");
        expect(sessionOf(second)).toEqual(sessionOf(first));
        expect(turnsOf(model).at(-1)).toContain(PROMPT);
        expect(turnsOf(model).at(-1)).not.toContain(repository);
      });
    },
  );
}

describeWith(["claude code", "bubblewrap"], "the real claude", () => {
  it("leaves nothing in the home directory where its sessions are not to be captured", async () => {
    const home = temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel(COMMITTING);
    const provider = (name: string) => claudeCode(name, { captureSessions: false });
    const result = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd, provider });
    expect(result.iterations[0]?.sessionId).toBeTruthy();
    expect(result.iterations[0]?.sessionFilePath).toBeUndefined();
    expect(filesIn(home)).toEqual([]);
    await expect(result.resume("What did you do?")).rejects.toThrow(AgentSessionNotFoundError);
  });

  it("has no session captured that it has put elsewhere, and the run tells so but does not fail", async () => {
    const home = temporaryHome();
    const cwd = temporaryRepository();
    // Claude Code writes its session when it has time for it, and would make a file anew that is gone for a moment.
    const hide = `until file=$(ls ~/.claude/projects/*/*.jsonl); do sleep 0.1; done
cp "$file" /tmp/elsewhere && ln -s /tmp/elsewhere "$file.link" && mv -T "$file.link" "$file"`;
    const model = await scriptedModel([{ calls: [{ shell: hide }] }, ...COMMITTING]);
    const result = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd });
    expect(result.commits).toHaveLength(1);
    expect(result.iterations[0]?.sessionFilePath).toBeUndefined();
    expect(result.warnings).toEqual([
      expect.stringMatching(/^The agent's session.* was not captured: \S+ is a symbolic link\.?$/),
    ]);
    expect(filesIn(home)).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("has what its subagents said and what its tools printed brought along, with the paths of each place", async () => {
    const home = temporaryHome();
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
    const options = { completionTimeoutSeconds: 10 };
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
    expect(lastRequest).not.toContain(home);
    expect(existsSync(printed)).toBe(true);
    expect(existsSync(transcript)).toBe(true);
  });
});

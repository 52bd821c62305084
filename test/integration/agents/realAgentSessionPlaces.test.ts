import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  AgentSessionNotFoundError,
  claudeCode,
  command,
  createSandbox,
  createWorktree,
  InvalidOptionsError,
  type RunOptions,
  run,
  type SandboxRunOptions,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../../cli/fixtures.ts";
import { AGENT_PATH, offlineAgent } from "../../helpers/agents/agents.ts";
import { bundle } from "../../helpers/bundle.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import {
  AGENTS as AGENTS_DIRECTORY,
  describeWith,
  TEST_IMAGE,
  TEST_USER,
} from "../../helpers/runtimes/runtimes.ts";
import {
  AGENTS,
  COMMITTING,
  PATIENCE,
  publicEnv,
  runReal,
  SANDBOXES,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "./realAgents.ts";

const home = useTemporaryHome();

const REMEMBERING = [...COMMITTING, { text: "I remember." }] as const;

describeSideBySide("the session of a real agent", () => {
  for (const agent of ["claude", "pi"] as const) {
    describeWith([AGENTS[agent].runtime], `the real ${agent} in an isolated sandbox`, () => {
      it(
        "has its session captured, and brought into the next one, which is elsewhere",
        PATIENCE,
        async () => {
          const cwd = temporaryRepository();
          const model = await scriptedModel(REMEMBERING);
          const offline = offlineAgent(agent, model.url);
          const path = `${AGENTS_DIRECTORY}/bin:${process.env["PATH"]}`;
          const options: Partial<RunOptions> = {
            sandbox: testIsolated(),
            // It runs on the host: what it leaves is to go with the test, and whatever shell there is is not to matter.
            env: publicEnv({ ...offline.env, PATH: path, TMPDIR: temporaryDirectory(), SHELL: "/bin/bash" }),
          };
          const first = await runReal({ agent, sandbox: "bubblewrap", model, cwd, options });
          expect(first.warnings).toEqual([]);
          expect(git(cwd, "show", "agent/work:hello.txt")).toBe("hello");
          const { sessionId, sessionFilePath = "" } = first.iterations[0] ?? {};
          expect(sessionFilePath.startsWith(home())).toBe(true);
          const session = readFileSync(sessionFilePath, "utf8");
          expect(session).toContain(cwd);
          expect(session).not.toMatch(/sanddune-test-isolated-[\w-]+\/repo/);

          const second = await first.resume("What did you do?");
          expect(second.warnings).toEqual([]);
          expect(second.iterations[0]).toMatchObject({ sessionId, sessionFilePath });
          expect(turnsOf(model).at(-1)).toContain("Greet the world, and commit.");
          expect(turnsOf(model).at(-1)).not.toContain(cwd);
          expect(leftovers(cwd)).toEqual([]);
        },
      );
    });
  }

  for (const sandbox of ["docker", "bubblewrap"] as const) {
    describeWith(
      ["claude code", "test user", sandbox],
      `the real claude of an ordinary user in ${sandbox}`,
      () => {
        it(
          "works without asking for permission, as it does as root, and its session is that user's",
          PATIENCE,
          async () => {
            const model = await scriptedModel(REMEMBERING);
            const { env, model: name } = offlineAgent("claude", model.url);
            const place = temporaryDirectory();
            chmodSync(place, 0o755);
            const program = bundle(join(import.meta.dirname, "realAgentUser.ts"), place);
            const cwd = temporaryRepository();
            const home = mkdtempSync(join(place, "home-"));
            execFileSync("chown", ["-R", `${TEST_USER}:`, home, cwd]);
            const settings = {
              sandbox,
              image: TEST_IMAGE,
              agents: AGENTS_DIRECTORY,
              path: AGENT_PATH,
              model: name,
              env,
              cwd,
            };
            const asUser = ["-u", TEST_USER, "--", "env", `HOME=${home}`, process.execPath];
            const { stdout } = await promisify(execFile)(
              "runuser",
              [...asUser, program, JSON.stringify(settings)],
              { cwd: "/" },
            );
            const told = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
            expect(told).toMatchObject({ commits: 1, signal: "<promise>COMPLETE</promise>", warnings: [] });
            expect(told.uid).not.toBe(0);
            expect(told.resumed).toContain("I remember.");
            expect(told.sessionFilePath.startsWith(home)).toBe(true);
          },
        );
      },
    );
  }

  describeWith(["claude code", "bubblewrap"], "the real claude in a worktree that lasts", () => {
    it("continues with its session in that worktree", PATIENCE, async () => {
      const cwd = temporaryRepository();
      const model = await scriptedModel([
        COMMITTING[0],
        { text: "Done." },
        { calls: [{ shell: "cat hello.txt && git commit --allow-empty -qm 'Look again'" }] },
        { text: "I remember." },
      ]);
      const offline = offlineAgent("claude", model.url);
      await using worktree = await createWorktree({
        cwd,
        branchStrategy: { type: "branch", branch: "agent/work" },
      });
      const first = await worktree.run({
        agent: claudeCode(offline.model),
        sandbox: SANDBOXES.bubblewrap(),
        prompt: "Greet the world, and commit.",
        env: publicEnv({ PATH: AGENT_PATH, ...offline.env }),
      });
      expect(readFileSync(first.iterations[0]?.sessionFilePath ?? "", "utf8")).toContain(`"cwd":"${cwd}"`);
      const second = await first.resume("Look again.");
      expect(second.iterations[0]?.sessionId).toBe(first.iterations[0]?.sessionId);
      expect(second.commits).toHaveLength(1);
      expect(turnsOf(model).at(-1)).toContain("Greet the world, and commit.");
      expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Look again\nAdd a greeting");
    });
  });
});

const ID = "01a1e348-7377-7cf0-85f7-479f697b65b9";
const resuming = (cwd: string, more: object): RunOptions =>
  ({
    agent: claudeCode("claude-sonnet-4-5"),
    sandbox: testIsolated(),
    branchStrategy: { type: "branch", branch: "agent/work" },
    cwd,
    prompt: "Go on.",
    resumeSession: ID,
    ...more,
  }) as RunOptions;

describe("before anything is created, a session to resume", () => {
  it.each([
    ["that is not on this machine", {}, AgentSessionNotFoundError, `"${ID}"`],
    ["that is not on this machine, to be copied", { forkSession: true }, AgentSessionNotFoundError, ID],
    ["with several iterations", { maxIterations: 2 }, InvalidOptionsError, "maxIterations"],
    ["of an agent without sessions", { agent: command("cat") }, InvalidOptionsError, "cannot resume"],
    [
      "with an id that leaves the directory",
      { resumeSession: "../../etc/passwd" },
      InvalidOptionsError,
      "id",
    ],
    ["with an id that stands for all", { resumeSession: "*" }, InvalidOptionsError, "id"],
    ["with an empty id", { resumeSession: "" }, InvalidOptionsError, "id"],
    ["with an id that is an option", { resumeSession: "--help" }, InvalidOptionsError, "id"],
    [
      "that is missing, to be copied",
      { resumeSession: undefined, forkSession: true },
      InvalidOptionsError,
      "forkSession",
    ],
  ] as const)("%s is refused, with the reason", async (_, more, kind, words) => {
    const cwd = temporaryRepository();
    const error = await run(resuming(cwd, more)).catch((reason) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toContain(words);
    expectUntouched(cwd);
  });

  it("that is a directory, not a file, is refused", async () => {
    const cwd = temporaryRepository();
    const session = join(home(), `.claude/projects/x/${ID}.jsonl`);
    mkdirSync(session, { recursive: true });
    onTestFinished(() => rmSync(session, { recursive: true }));
    const error = await run(resuming(cwd, {})).catch((reason) => reason);
    expect(error).toBeInstanceOf(AgentSessionNotFoundError);
    expect(error.message).toContain("is not a regular file");
    expectUntouched(cwd);
  });

  it("is refused in a sandbox that lasts, which can be used afterwards", async () => {
    const cwd = temporaryRepository();
    await using sandbox = await createSandbox({ cwd, branch: "agent/work", sandbox: testIsolated() });
    const options = { agent: claudeCode("claude-sonnet-4-5"), prompt: "Go on.", resumeSession: ID };
    const error = await sandbox.run(options as unknown as SandboxRunOptions).catch((reason) => reason);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain("always starts a new agent session");
    expect((await sandbox.run({ agent: command("cat"), prompt: "Here." })).stdout).toBe("Here.\n");
  });
});

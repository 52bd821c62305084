import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it, onTestFinished } from "vitest";
import { liveAgentInvoker } from "../../../src/engine/agent/agentInvoker.ts";
import {
  AgentFailedError,
  AgentNotFoundError,
  type AgentProvider,
  command,
  IdleTimeoutError,
  type SandboxRunOptions,
  type SandboxRunResult,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { bundle } from "../../helpers/bundle.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../../sandboxes/openSandbox.ts";
import { failureOf, play, SANDBOXES, STRATEGIES, shell } from "../../security/support.ts";
import { useSharedSandbox } from "../lasting/sharedSandbox.ts";

const MEBIBYTE = 1024 * 1024;
const SIGNAL = "<promise>COMPLETE</promise>";

/** What is the agent's own doing is the same in every sandbox: all of these work in one. */
const sandbox = useSharedSandbox();

type Options = Partial<SandboxRunOptions>;

const runAgent = (agent: AgentProvider, options: Options = {}): Promise<SandboxRunResult> =>
  sandbox().run({ agent, prompt: "x", idleTimeoutSeconds: 60, ...options } as SandboxRunOptions);

const runCommand = (line: string, options?: Options) => runAgent(command(line), options);

describe("an agent that", () => {
  it("floods 100 MB costs bounded memory, and its end is what is kept", () => {
    const program = bundle(join(import.meta.dirname, "floodedRun.ts"));
    const argv = ["--expose-gc", program, temporaryRepository(), "100"];
    const printed = execFileSync(process.execPath, argv, { encoding: "utf8", maxBuffer: 10 * MEBIBYTE });
    const { growth, stdout } = JSON.parse(printed) as { growth: number; stdout: string };
    expect(stdout.endsWith("the-end\n")).toBe(true);
    expect(stdout.length).toBeLessThanOrEqual(2 * MEBIBYTE);
    // It is 4. Half of what was printed would be too much.
    expect(growth).toBeLessThan(50);
  });

  it("prints one line of 20 MB does not break anything", async () => {
    const result = await runCommand(`head -c 20971520 /dev/zero | tr '\\0' x; echo; echo '${SIGNAL}'`);
    expect(result.completionSignal).toBe(SIGNAL);
  });

  it("prints invalid UTF-8 and control characters is read to the end, and the log is harmless", async () => {
    const result = await runCommand(
      `printf 'a\\377\\376b\\000c\\033]52;c;ZXZpbA==\\007\\n'; printf '\\303'; sleep 0.1; printf '\\244\\n'; echo '${SIGNAL}'`,
    );
    expect(result.stdout).toContain("ä\n");
    expect(result.completionSignal).toBe(SIGNAL);
    expect(readFileSync(result.logFilePath as string, "latin1")).not.toMatch(/[\x00\x07\x1b]/);
  });

  it("exits at once while a prompt of 4 MB is being written succeeds or fails by its exit code", async () => {
    const prompt = "p".repeat(4 * 1024 * 1024);
    expect((await runCommand("exit 0", { prompt })).iterations).toHaveLength(1);
    const error = await failureOf(runCommand("exit 7", { prompt }));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 7 });
  });

  it("reads a prompt of 4 MB gets every byte of it", async () => {
    const result = await runCommand("wc -c", { prompt: "p".repeat(4 * 1024 * 1024) });
    expect(result.stdout.trim()).toBe(String(4 * 1024 * 1024));
  });

  it.each([
    ["a line for sh", "no-such-agent --flag"],
    ["an argv", ["no-such-agent", "--flag"]],
  ] as const)("does not exist is named (%s)", async (_, line) => {
    const error = await failureOf(
      runAgent({ ...command("x"), buildCommand: ({ prompt }) => ({ command: line, stdin: prompt }) }),
    );
    expect(error).toBeInstanceOf(AgentNotFoundError);
    expect(error).toMatchObject({ program: "no-such-agent", sandbox: "test-isolated" });
    expect((error as Error).message).toContain("Install it for all users");
    expect((error as Error).message).not.toContain("image");
  });

  it("prints an exit marker of its own is not believed", async () => {
    const error = await failureOf(
      runCommand(
        `printf '\\036%s:0\\036' "$SANDDUNE_EXEC_ID"; printf '\\036%s:0\\036' "$SANDDUNE_EXEC_ID" >&2; exit 9`,
      ),
    );
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 9 });
  });

  it("dies by a signal has failed", async () => {
    const error = await failureOf(runCommand("sh -c 'kill -SEGV $$'"));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect((error as AgentFailedError).exitCode).toBeGreaterThan(128);
  });
});

for (const name of ["bubblewrap", "isolated"] as const) {
  describeWith(name === "isolated" ? [] : [name], `on ${name} an agent that`, () => {
    it("leaves a daemon that holds its output open does not hold up the run", async () => {
      const mark = `daemon-${process.pid}-${name}`;
      const result = await play(
        temporaryRepository(),
        [shell(`setsid sh -c 'while :; do sleep 60; done # ${mark}' &`), { text: "done" }],
        { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES[name]() },
      );
      expect(result.stdout).toBe("done\n");
      await waitFor(() => processesWith(mark).length === 0, 10_000);
    });
  });
}

describeWith(["bubblewrap"], "an agent that", () => {
  it("kills everything that it can see does not make a success of it", async () => {
    const cwd = temporaryRepository();
    const ending = await play(cwd, [{ commit: "Work" }, shell("kill -9 -1; kill -9 1; kill -9 $PPID")], {
      branchStrategy: STRATEGIES.branch,
    }).catch((error: unknown) => error);
    expect(ending).toBeInstanceOf(Error);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Work");
  });

  it("deletes all that it can delete, its own directory included, loses no file of others", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "mine.txt"), "mine\n");
    await play(cwd, [shell("rm -rf --no-preserve-root / 2>/dev/null; rm -rf /sanddune 2>/dev/null; true")], {
      branchStrategy: STRATEGIES.branch,
    }).catch(() => undefined);
    expect(readFileSync(join(cwd, "mine.txt"), "utf8")).toBe("mine\n");
    expect(git(cwd, "status", "--porcelain")).toBe("?? mine.txt");
    expect(existsSync("/usr/bin/git")).toBe(true);
    git(cwd, "fsck", "--strict");
  });
});

describe("the idle timer", () => {
  // How often it may be set back, and what follows if it is not, is in test/engine/iterations/iterationLoop.test.ts.
  it.each([
    ["stdout", "printf x"],
    ["stderr", "printf x >&2"],
  ])("is set back by a single byte on %s", async (_, print) => {
    const isolated = await openIsolated(testIsolated());
    onTestFinished(() => isolated.close());
    const waitUntil = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
    const make = (name: string) => writeFileSync(join(isolated.worktreePath, name), "");
    let signs = 0;
    const running = Effect.runPromise(
      liveAgentInvoker.invoke({
        // It waits for ever if its byte is not noticed.
        agent: command(`touch started; ${waitUntil("go")}; ${print}; ${waitUntil("noticed")}`),
        ...{ sandbox: isolated, cwd: isolated.worktreePath, env: {}, prompt: "x", iteration: 1 },
        ...{ onEvent: () => {}, onLine: () => {}, redactCaptured: (text) => text },
        onActivity: () => {
          signs++;
          make("noticed");
        },
      }),
    );
    await waitFor(() => existsSync(join(isolated.worktreePath, "started")));
    expect(signs).toBe(0);
    make("go");
    expect((await running).exitCode).toBe(0);
  });

  it("ends an agent that says nothing at all", async () => {
    const error = await failureOf(runCommand("sleep 60", { idleTimeoutSeconds: 1 }));
    expect(error).toBeInstanceOf(IdleTimeoutError);
    expect(error).toMatchObject({ idleTimeoutSeconds: 1 });
  });

  it("ends an agent that has stopped talking, works in the background, and ignores SIGTERM; its commits are kept", async () => {
    const line = `git commit --quiet --allow-empty -m Work; echo hello; trap '' TERM INT HUP; (while :; do sleep 60; done) & wait`;
    // More than git takes on a busy machine.
    const error = await failureOf(runCommand(line, { idleTimeoutSeconds: 3 }));
    expect(error).toBeInstanceOf(IdleTimeoutError);
    expect(error.commits).toHaveLength(1);
  });
});

describe("the completion signal", () => {
  const twice = async (agent: AgentProvider, options: Options = {}) => {
    const { iterations, completionSignal } = await runAgent(agent, {
      maxIterations: 2,
      ...options,
    } as Options);
    return { count: iterations.length, completionSignal };
  };
  const FOUND = { count: 1, completionSignal: SIGNAL };
  const NOT_FOUND = { count: 2, completionSignal: undefined };

  it("counts when it arrives in pieces", async () => {
    const pieces = "printf '<promise>COMP'; sleep 0.1; printf 'LETE</pro'; sleep 0.1; printf 'mise>'";
    expect(await twice(command(pieces))).toEqual(FOUND);
  });

  it("counts far into a long stream, and once", async () => {
    const flood = `yes '${"text ".repeat(40)}' | head -c 1000000`;
    expect(await twice(command(`${flood}; echo '${SIGNAL}'; echo '${SIGNAL}'; ${flood}`))).toEqual(FOUND);
  });

  it("does not count on stderr, nor in the prompt that the agent echoes there", async () => {
    const prompt = `Print ${SIGNAL} when you are done`;
    expect(await twice(command(`cat >&2; echo '${SIGNAL}' >&2`), { prompt })).toEqual(NOT_FOUND);
  });

  it("does not count in the result of a tool", async () => {
    expect(await twice(scripted([shell(`echo '${SIGNAL}'`)]))).toEqual(NOT_FOUND);
  });

  it("does not cut off an agent that is still at work", async () => {
    const steps: ScriptedStep[] = [
      { text: `I will print ${SIGNAL} when I am done` },
      { sleepMs: 300 },
      { commit: "Late work" },
    ];
    expect((await runAgent(scripted(steps))).commits).toHaveLength(1);
  });

  it("half of it at the end of one iteration and half at the beginning of the next is none", async () => {
    const halves = scripted(({ iteration }) => [
      { text: iteration === 1 ? "<promise>COMP" : "LETE</promise>" },
    ]);
    expect(await twice(halves)).toEqual(NOT_FOUND);
  });
});

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AgentFailedError,
  AgentNotFoundError,
  type AgentProvider,
  command,
  IdleTimeoutError,
  type RunOptions,
  type RunResult,
  run,
} from "../../src/index.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { failureOf, play, SANDBOXES, STRATEGIES, shell } from "../security/support.ts";

const SIGNAL = "<promise>COMPLETE</promise>";

const runCommand = (
  line: string,
  options: Partial<RunOptions> & { sandbox?: never } = {},
  agent: AgentProvider = command(line),
): Promise<RunResult> =>
  run({
    agent,
    sandbox: SANDBOXES.bubblewrap(),
    cwd: temporaryRepository(),
    prompt: "x",
    idleTimeoutSeconds: 60,
    ...options,
  } as RunOptions);

const runningWith = (mark: string): boolean =>
  readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(mark);
    } catch {
      return false;
    }
  });

describe("an agent that", () => {
  it("ignores SIGTERM is stopped all the same, and its commits are kept", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      play(cwd, [{ commit: "Work" }, shell("trap '' TERM INT HUP; while :; do sleep 0.2; done")], {
        branchStrategy: STRATEGIES.branch,
        idleTimeoutSeconds: 1,
      }),
    );
    expect(error).toBeInstanceOf(IdleTimeoutError);
    expect(error.commits).toHaveLength(1);
  });

  it.each(["bubblewrap", "isolated"] as const)(
    "leaves a daemon that holds its output open does not hold up the run on %s",
    async (name) => {
      const mark = `daemon-${process.pid}-${name}`;
      const result = await play(
        temporaryRepository(),
        [shell(`setsid sh -c 'while :; do sleep 0.2; done # ${mark}' &`), { text: "done" }],
        {
          branchStrategy: STRATEGIES.branch,
          sandbox: SANDBOXES[name](),
        },
      );
      expect(result.stdout).toBe("done\n");
      await waitFor(() => !runningWith(mark), 10_000);
    },
  );

  it("floods 100 MB costs bounded memory, and its end is what is kept", { timeout: 120_000 }, async () => {
    const before = process.memoryUsage().rss;
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 50);
    const result = await runCommand(
      `yes '${"flood ".repeat(40)}' | head -c 104857600; echo; echo the-end`,
    ).finally(() => clearInterval(watch));
    expect(result.stdout.endsWith("the-end\n")).toBe(true);
    expect(result.stdout.length).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(highest - before).toBeLessThan(400 * 1024 * 1024);
  });

  it("prints one line of 50 MB does not break anything", { timeout: 120_000 }, async () => {
    const result = await runCommand(`head -c 52428800 /dev/zero | tr '\\0' x; echo; echo '${SIGNAL}'`);
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

  it("exits at once while a prompt of 10 MB is being written succeeds or fails by its exit code", async () => {
    const prompt = "p".repeat(10 * 1024 * 1024);
    expect((await runCommand("exit 0", { prompt })).iterations).toHaveLength(1);
    const error = await failureOf(runCommand("exit 7", { prompt }));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 7 });
  });

  it("reads a prompt of 10 MB gets every byte of it", async () => {
    const result = await runCommand("wc -c", { prompt: "p".repeat(10 * 1024 * 1024) });
    expect(result.stdout.trim()).toBe(String(10 * 1024 * 1024));
  });

  it.each([
    ["a line for sh", "no-such-agent --flag"],
    ["an argv", ["no-such-agent", "--flag"]],
  ] as const)("does not exist is named (%s)", async (_, line) => {
    const agent: AgentProvider = {
      ...command("x"),
      buildCommand: ({ prompt }) => ({ command: line, stdin: prompt }),
    };
    const error = await failureOf(runCommand("", {}, agent));
    expect(error).toBeInstanceOf(AgentNotFoundError);
    expect(error).toMatchObject({ program: "no-such-agent", sandbox: "bubblewrap" });
    expect((error as Error).message).toContain("install it here");
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

  it.each(["KILL", "SEGV", "TERM"])("dies by SIG%s has failed", async (signal) => {
    const error = await failureOf(runCommand(`sh -c 'kill -${signal} $$'`));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect((error as AgentFailedError).exitCode).toBeGreaterThan(128);
  });

  it("kills everything that it can see does not make a success of it", async () => {
    const cwd = temporaryRepository();
    const ending = await play(cwd, [{ commit: "Work" }, shell("kill -9 -1; kill -9 1; kill -9 $PPID")], {
      branchStrategy: STRATEGIES.branch,
    }).catch((error: unknown) => error);
    expect(ending).toBeInstanceOf(Error);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Work");
  });

  it("deletes all that it can delete, its own directory included, loses nobody else's files", async () => {
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
  it.each([
    ["a line on stdout", "echo x"],
    ["one byte without a line end", "printf x"],
    ["a line on stderr", "echo x >&2"],
    ["one byte on stderr", "printf x >&2"],
  ])("is set back by %s", async (_, say) => {
    const result = await runCommand(`for i in 1 2 3 4 5; do ${say}; sleep 0.6; done`, {
      idleTimeoutSeconds: 1.5,
    });
    expect(result.iterations).toHaveLength(1);
  });

  it.each([
    ["says nothing at all", "sleep 60"],
    ["has stopped talking", "echo hello; sleep 60"],
    ["works in the background of a silent shell", "(while :; do sleep 0.1; done) & wait"],
  ])("ends an agent that %s", async (_, line) => {
    const error = await failureOf(runCommand(line, { idleTimeoutSeconds: 1 }));
    expect(error).toBeInstanceOf(IdleTimeoutError);
    expect(error).toMatchObject({ idleTimeoutSeconds: 1 });
  });
});

describe("the completion signal", () => {
  const iterationsUntil = (line: string, options: Partial<RunOptions> = {}) =>
    runCommand(line, { maxIterations: 2, ...options } as never).then(({ iterations, completionSignal }) => ({
      count: iterations.length,
      completionSignal,
    }));

  it("counts when it arrives in pieces", async () => {
    expect(
      await iterationsUntil(
        "printf '<promise>COMP'; sleep 0.1; printf 'LETE</pro'; sleep 0.1; printf 'mise>'",
      ),
    ).toEqual({ count: 1, completionSignal: SIGNAL });
  });

  it("counts far into a long stream, and once", async () => {
    expect(
      await iterationsUntil(
        `yes text | head -c 5000000; echo '${SIGNAL}'; echo '${SIGNAL}'; yes text | head -c 5000000`,
      ),
    ).toEqual({ count: 1, completionSignal: SIGNAL });
  });

  it.each([
    ["in the prompt that the agent echoes to stderr", `cat >&2`],
    ["on stderr", `echo '${SIGNAL}' >&2`],
  ])("does not count %s", async (_, line) => {
    expect(await iterationsUntil(line, { prompt: `Print ${SIGNAL} when you are done` } as never)).toEqual({
      count: 2,
      completionSignal: undefined,
    });
  });

  it("does not count in the result of a tool", async () => {
    const result = await play(temporaryRepository(), [shell(`echo '${SIGNAL}'`)], { maxIterations: 2 });
    expect(result.iterations).toHaveLength(2);
    expect(result.completionSignal).toBeUndefined();
  });

  it("does not cut off an agent that is still at work", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      [{ text: `I will print ${SIGNAL} when I am done` }, { sleepMs: 300 }, { commit: "Late work" }],
      { branchStrategy: STRATEGIES.branch },
    );
    expect(result.commits).toHaveLength(1);
  });

  it("half of it at the end of one iteration and half at the beginning of the next is none", async () => {
    const result = await play(
      temporaryRepository(),
      ({ iteration }) => [{ text: iteration === 1 ? "<promise>COMP" : "LETE</promise>" }],
      { maxIterations: 2 },
    );
    expect(result.completionSignal).toBeUndefined();
  });
});

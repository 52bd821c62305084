import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HookFailedError } from "../../src/index.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { failureOf, play, STRATEGIES, userRefs } from "../security/support.ts";
import {
  HARD_TO_END,
  HOOK_NAMES,
  type HookName,
  hardToEnd,
  hookScene,
  hooksAt,
  marked,
  newMark,
} from "./hookScenes.ts";

const branchStrategy = STRATEGIES.branch;
type Hook = Parameters<typeof hooksAt>[1];

/** Runs with hooks of which one must fail, and checks what is the same for every failure. */
const failingHook = async (name: HookName, ...hooks: Hook[]): Promise<HookFailedError> => {
  const cwd = temporaryRepository();
  const before = userRefs(cwd);
  const { sandboxes } = hookScene();
  const error = await failureOf(
    play(cwd, [{ commit: "The agent was here" }], {
      sandbox: sandboxes.bubblewrap(),
      branchStrategy,
      hooks: hooksAt(name, ...hooks),
    }),
  );
  expect(error).toBeInstanceOf(HookFailedError);
  expect(error).toMatchObject({ hook: name, iterations: [], commits: [] });
  expect(userRefs(cwd)).toBe(before);
  expect(leftovers(cwd)).toEqual([]);
  return error as HookFailedError;
};

describe.each(HOOK_NAMES)("%s", (name) => {
  it("that ends with another code than 0 fails the run before the agent, with its last words", async () => {
    const command = "echo words; echo complaint >&2; exit 7";
    const error = await failingHook(name, { command }, { command: "exit 8" });
    expect(error).toMatchObject({ command, exitCode: 7, stdout: "words\n", stderr: "complaint\n" });
    expect(error.message).toMatch(/exit code 7[\s\S]*complaint/);
  });

  it("that is killed has failed", async () => {
    expect(await failingHook(name, { command: "kill -9 $$" })).toMatchObject({ exitCode: 137 });
  });

  it("whose command does not exist says so", async () => {
    const error = await failingHook(name, { command: "no-such-program --flag" });
    expect(error.exitCode).toBe(127);
    expect(error.message).toMatch(/no-such-program.*not found/);
  });

  it("that takes too long is stopped with everything it started", async () => {
    const mark = newMark();
    const { directory } = hookScene();
    const command = `${hardToEnd(mark)}\ntrap '' TERM INT HUP; echo slow >&2; while :; do sleep 0.1; done # ${mark} ${directory}`;
    const error = await failingHook(name, { command, timeoutMs: 2000 });
    expect(error).toMatchObject({ command, exitCode: undefined, stderr: "slow\n" });
    expect(error.problem).toMatch(/2000 ms.*timeoutMs/);
    await waitFor(() => marked(mark).length === 0, 5000);
  });

  it("that takes too long is quoted with what it printed to its standard output", async () => {
    const error = await failingHook(name, { command: "echo step 3 of 7; sleep 1000", timeoutMs: 2000 });
    expect(error.stdout).toBe("step 3 of 7\n");
    expect(error.message).toContain("step 3 of 7");
  });

  it("that fails takes along what it left in the background", async () => {
    const mark = newMark();
    await failingHook(name, { command: `${hardToEnd(mark)}\nexit 1` });
    await waitFor(() => marked(mark).length === 0, 5000);
  });

  it("that prints 10 MB and fails is quoted with the end of it", async () => {
    const flood = "yes 'one of many lines' | head -c 10485760; echo; echo the-end; exit 1";
    const error = await failingHook(name, { command: flood });
    expect(error.stdout.endsWith("\nthe-end\n")).toBe(true);
    expect(error.stdout.length).toBeLessThan(256 * 1024);
    expect(error.message.length).toBeLessThan(256 * 1024);
    expect(error.message).toContain("the-end");
  });

  it("that prints one line of 10 MB and succeeds lets the agent begin", async () => {
    const { sandboxes } = hookScene();
    const result = await play(temporaryRepository(), [{ text: "here" }], {
      sandbox: sandboxes.bubblewrap(),
      hooks: hooksAt(name, { command: "head -c 10485760 /dev/zero | tr '\\0' x; echo; echo the-end" }),
    });
    expect(result.stdout).toBe("here\n");
    expect(readFileSync(result.logFilePath as string, "utf8")).toContain(`[${name}] the-end`);
  });

  it("that reads its input finds none, and no terminal", async () => {
    const { directory, sandboxes } = hookScene();
    const command = `wc -c > ${directory}/read; if (: < /dev/tty) 2>/dev/null; then echo tty >> ${directory}/read; fi`;
    const result = await play(temporaryRepository(), [{ text: "here" }], {
      sandbox: sandboxes.bubblewrap(),
      hooks: hooksAt(name, { command, timeoutMs: 20_000 }),
    });
    expect(readFileSync(join(directory, "read"), "utf8").trim()).toBe("0");
    expect(result.stdout).toBe("here\n");
  });

  it("that fails in the user's own checkout leaves the branch and the user's changes alone", async () => {
    const cwd = temporaryRepository();
    const { sandboxes } = hookScene();
    const before = userRefs(cwd);
    const error = await failureOf(
      play(cwd, [{ commit: "never" }], {
        sandbox: sandboxes.bubblewrap(),
        hooks: hooksAt(name, { command: "echo x > made-by-hook && exit 1" }),
      }),
    );
    expect(error).toBeInstanceOf(HookFailedError);
    expect(userRefs(cwd)).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe("?? made-by-hook");
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("of two hooks that run at the same time", () => {
  const PAIRS = [
    ["host.onSandboxReady", "sandbox.onSandboxReady"],
    ["sandbox.onSandboxReady", "host.onSandboxReady"],
  ] as const;
  it.each(PAIRS)("the failure of %s cancels %s, and the rest of both lists", async (failing, other) => {
    const cwd = temporaryRepository();
    const { directory, sandboxes } = hookScene();
    const mark = newMark();
    const hold = `${hardToEnd(mark)}\ntouch ${directory}/here; trap '' TERM; while :; do sleep 0.1; done # ${mark}`;
    const fail = `until [ -e ${directory}/here ]; do sleep 0.02; done; echo mine >&2; exit 5`;
    const later = { command: `touch ${directory}/later` };
    const hooks = {
      ...hooksAt(failing, { command: fail }, later),
      ...hooksAt(other, { command: hold }, later),
    };
    const error = await failureOf(
      play(cwd, [{ commit: "never" }], { sandbox: sandboxes.bubblewrap(), branchStrategy, hooks }),
    );
    expect(error).toMatchObject({ hook: failing, exitCode: 5, stderr: "mine\n" });
    await waitFor(() => marked(mark).length === 0, 5000);
    expect(existsSync(join(directory, "later"))).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
  });
});

it("a secret that a failing hook prints is neither in the error nor in the log", async () => {
  const SECRET = "v3ry-s3cr3t-value";
  const cwd = temporaryRepository();
  const { sandboxes } = hookScene();
  const error = (await failureOf(
    play(cwd, [{ text: "never" }], {
      sandbox: sandboxes.bubblewrap(),
      env: { TOKEN: SECRET },
      hooks: hooksAt("sandbox.onSandboxReady", { command: 'echo "<$TOKEN>"; echo "[$TOKEN]" >&2; exit 1' }),
    }),
  )) as HookFailedError;
  expect(error.stdout).toMatch(/^<.+>\n$/);
  expect(JSON.stringify([error, error.message, error.stack])).not.toContain(SECRET);
  expect(readFileSync(error.logFilePath as string, "utf8")).not.toContain(SECRET);
});

it("processes that are hard to end are really started by the hooks of these tests", async () => {
  const mark = newMark();
  const { directory, sandboxes } = hookScene();
  const running = play(temporaryRepository(), [{ text: "here" }], {
    sandbox: sandboxes.bubblewrap(),
    hooks: hooksAt("host.onSandboxReady", {
      command: `${hardToEnd(mark)}\nuntil [ -e ${directory}/go ]; do sleep 0.02; done`,
    }),
  });
  await waitFor(() => marked(mark).length > HARD_TO_END);
  writeFileSync(join(directory, "go"), "");
  await running;
  expect(marked(mark)).toEqual([]);
});

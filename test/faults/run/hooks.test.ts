import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { describe, expect, it, onTestFinished } from "vitest";
import { openHostHookRunner, sandboxHookRunner } from "../../../src/engine/hooks/hookRunners.ts";
import { type HookRunner, runHooks } from "../../../src/engine/hooks/runHook.ts";
import { HookFailedError, type HostHook } from "../../../src/index.ts";
import { Redactor } from "../../../src/redaction/redactor.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../../sandboxes/openSandbox.ts";
import { failureOf, play, STRATEGIES, userRefs } from "../../security/support.ts";
import {
  HARD_TO_END,
  HOOK_NAMES,
  type HookName,
  hardToEnd,
  hookScene,
  hooksAt,
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

describeWith(["bubblewrap"], "a hook", () => {
  it.each(HOOK_NAMES)(
    "%s that ends with another code than 0 fails the run before the agent, with its last words, and all it started ends",
    async (name) => {
      const mark = newMark();
      const command = `${hardToEnd(mark)}\necho words; echo complaint >&2; exit 7`;
      const error = await failingHook(name, { command }, { command: "exit 8" });
      expect(error).toMatchObject({ command, exitCode: 7, stdout: "words\n", stderr: "complaint\n" });
      expect(error.message).toMatch(/exit code 7[\s\S]*complaint/);
      await waitFor(() => processesWith(mark).length === 0, 5000);
    },
  );

  it("that takes too long is stopped with everything it started, and quoted with what it printed", async () => {
    // All of them at once: they wait for the same time.
    await Promise.all(
      HOOK_NAMES.map(async (name) => {
        const mark = newMark();
        const command = `${hardToEnd(mark)}\ntrap '' TERM INT HUP; echo step 3 of 7; echo slow >&2; while :; do sleep 60; done # ${mark}`;
        const error = await failingHook(name, { command, timeoutMs: 2000 });
        expect(error).toMatchObject({ exitCode: undefined, stdout: "step 3 of 7\n", stderr: "slow\n" });
        expect(error.problem).toMatch(/2000 ms.*timeoutMs/);
        expect(error.message).toContain("step 3 of 7");
        await waitFor(() => processesWith(mark).length === 0, 5000);
      }),
    );
  });

  it("that reads its input finds none, and no terminal; one that prints a line of 10 MB lets the agent begin", async () => {
    const { directory, sandboxes } = hookScene();
    const commandOf = (name: HookName) =>
      `wc -c > ${directory}/${name}; if (: < /dev/tty) 2>/dev/null; then echo tty >> ${directory}/${name}; fi; head -c 10485760 /dev/zero | tr '\\0' x; echo; echo the-end`;
    const hook = (name: HookName) => [{ command: commandOf(name), timeoutMs: 20_000 }];
    const result = await play(temporaryRepository(), [{ text: "here" }], {
      sandbox: sandboxes.bubblewrap(),
      hooks: {
        host: {
          onWorktreeReady: hook("host.onWorktreeReady"),
          onSandboxReady: hook("host.onSandboxReady"),
        },
        sandbox: { onSandboxReady: hook("sandbox.onSandboxReady") },
      },
    });
    expect(result.stdout).toBe("here\n");
    const log = readFileSync(result.logFilePath as string, "utf8");
    for (const name of HOOK_NAMES) {
      expect(readFileSync(join(directory, name), "utf8").trim()).toBe("0");
      expect(log).toContain(`[${name}] the-end`);
    }
  });

  it("that fails in the user's own checkout leaves the branch and the user's changes alone", async () => {
    for (const name of HOOK_NAMES) {
      const cwd = temporaryRepository();
      const before = userRefs(cwd);
      const { sandboxes } = hookScene();
      const error = await failureOf(
        play(cwd, [{ commit: "never" }], {
          sandbox: sandboxes.bubblewrap(),
          hooks: hooksAt(name, { command: "echo x > made-by-hook && exit 1" }),
        }),
      );
      expect(error).toMatchObject({ name: "HookFailedError", hook: name });
      expect(userRefs(cwd)).toBe(before);
      expect(git(cwd, "status", "--porcelain")).toBe("?? made-by-hook");
      expect(leftovers(cwd)).toEqual([]);
    }
  });

  it("that prints a secret and fails has it neither in the error nor in the log", async () => {
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
});

describeWith(["bubblewrap"], "of two hooks that run at the same time", () => {
  const PAIRS = [
    ["host.onSandboxReady", "sandbox.onSandboxReady"],
    ["sandbox.onSandboxReady", "host.onSandboxReady"],
  ] as const;
  it.each(PAIRS)("the failure of %s cancels %s, and the rest of both lists", async (failing, other) => {
    const cwd = temporaryRepository();
    const { directory, sandboxes } = hookScene();
    const mark = newMark();
    const hold = `${hardToEnd(mark)}\ntrap '' TERM; while :; do sleep 60; done # ${mark}`;
    const fail = `until [ -e ${directory}/go ]; do sleep 0.05; done; echo mine >&2; exit 5`;
    const later = { command: `touch ${directory}/later` };
    const hooks = {
      ...hooksAt(failing, { command: fail }, later),
      ...hooksAt(other, { command: hold }, later),
    };
    const running = failureOf(
      play(cwd, [{ commit: "never" }], { sandbox: sandboxes.bubblewrap(), branchStrategy, hooks }),
    );
    await waitFor(() => processesWith(mark).length > HARD_TO_END);
    writeFileSync(join(directory, "go"), "");
    expect(await running).toMatchObject({ hook: failing, exitCode: 5, stderr: "mine\n" });
    await waitFor(() => processesWith(mark).length === 0, 5000);
    expect(existsSync(join(directory, "later"))).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
  });
});

type OpenPlace = () => Promise<Effect.Effect<HookRunner<HostHook>, never, Scope.Scope>>;
const PLACES: Readonly<Record<string, OpenPlace>> = {
  "on the host": async () => {
    const directory = { path: temporaryDirectory(), check: () => {}, onExecId: () => {} };
    return Effect.map(openHostHookRunner(directory), (place) => place("host.onSandboxReady"));
  },
  "in the sandbox": async () => {
    const sandbox = await openIsolated(testIsolated());
    onTestFinished(() => sandbox.close());
    return Effect.succeed(sandboxHookRunner(sandbox, sandbox.worktreePath));
  },
};

describe.each(Object.entries(PLACES))("a hook %s", (_, openPlace) => {
  const failWith = async (command: string): Promise<HookFailedError> => {
    const output = { onLine: () => {}, redactor: new Redactor(new Map()) };
    const hook = Effect.flatMap(await openPlace(), (place) => runHooks(place, [{ command }], output));
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(hook)));
    expect(error).toBeInstanceOf(HookFailedError);
    return error as HookFailedError;
  };

  it("that is killed has failed", async () => {
    expect(await failWith("kill -9 $$")).toMatchObject({ exitCode: 137 });
  });

  it("whose command does not exist says so", async () => {
    const error = await failWith("no-such-program --flag");
    expect(error.exitCode).toBe(127);
    expect(error.message).toMatch(/no-such-program.*not found/);
  });

  it("that prints 10 MB and fails is quoted with the end of it", async () => {
    const error = await failWith("yes 'one of many lines' | head -c 10485760; echo; echo the-end; exit 1");
    expect(error.stdout.endsWith("\nthe-end\n")).toBe(true);
    expect(error.stdout.length).toBeLessThan(256 * 1024);
    expect(error.message.length).toBeLessThan(256 * 1024);
    expect(error.message).toContain("the-end");
  });
});

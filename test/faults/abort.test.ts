import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, type ExecOptions, run, type SandboxProvider } from "../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import {
  locksOf,
  meetingPoint,
  play,
  runRefs,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  shell,
  userRefs,
  worktreesOf,
} from "../security/support.ts";

const settled = (running: Promise<unknown>) =>
  running.then(
    (value) => ({ value, reason: undefined }),
    (reason: unknown) => ({ value: undefined, reason }),
  );

/** An own object: the promise is that the caller gets back the very same one. */
class Changed {
  readonly why = "the user changed their mind";
}

/** Processes of this machine that carry a mark on their command line. */
const marked = (mark: string): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark) && pid !== String(process.pid);
      } catch {
        return false;
      }
    });

it("an already aborted signal creates nothing", async () => {
  const cwd = temporaryRepository();
  const before = userRefs(cwd);
  const reason = new Changed();
  const { reason: thrown } = await settled(
    play(cwd, [{ commit: "x" }], { signal: AbortSignal.abort(reason) }),
  );
  expect(thrown).toBe(reason);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
  expect(userRefs(cwd)).toBe(before);
});

/** A provider that stops in one of its steps until it is aborted, and tells when it got there. */
const stalling = (
  name: SandboxName,
  step: "preflight" | "create" | "export",
  arrived: () => void,
): SandboxProvider => {
  const provider = SANDBOXES[name]();
  const untilAborted = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => {
      arrived();
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  return {
    ...provider,
    ...(step === "preflight" && {
      preflight: ({ signal }: { signal?: AbortSignal }) => untilAborted(signal),
    }),
    create: async (options: never) => {
      if (step === "create") return untilAborted((options as { signal?: AbortSignal }).signal);
      const handle = await provider.create(options);
      return {
        ...handle,
        exec: async (line: string, more?: ExecOptions) => {
          const result = await handle.exec(line, more);
          if (line.includes("sh -s")) arrived();
          return result;
        },
      };
    },
  } as SandboxProvider;
};

describe.each(["bubblewrap", "isolated"] as const)("aborting on %s", (name) => {
  const branchStrategy = STRATEGIES.branch;

  it.each(["preflight", "create"] as const)("during %s leaves nothing behind", async (step) => {
    const cwd = temporaryRepository();
    const before = userRefs(cwd);
    const controller = new AbortController();
    const reason = new Changed();
    const sandbox = stalling(name, step, () => controller.abort(reason));
    const { reason: thrown } = await settled(
      play(cwd, [{ commit: "x" }], { sandbox, branchStrategy, signal: controller.signal }),
    );
    expect(thrown).toBe(reason);
    expect(userRefs(cwd)).toBe(before);
    expect(runRefs(cwd)).toBe("");
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(locksOf(cwd)).toEqual([]);
  });

  it("during the agent brings its commits home, keeps the worktree, and lets the branch be used again", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Changed();
    const { sandboxes, wait, meet } = meetingPoint();
    const running = settled(
      play(
        cwd,
        [
          { commit: "Committed", files: { "a.txt": "a\n" } },
          shell("echo open > open.txt"),
          wait,
          { commit: "Never" },
        ],
        {
          sandbox: sandboxes[name](),
          branchStrategy,
          signal: controller.signal,
        },
      ),
    );
    await meet(() => controller.abort(reason)).catch(() => undefined);
    expect((await running).reason).toBe(reason);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Committed");
    const kept = worktreesOf(cwd).at(1) as string;
    expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
    expect(locksOf(cwd)).toEqual([]);
    const next = await play(cwd, [{ commit: "Next" }], { sandbox: sandboxes[name](), branchStrategy });
    expect(next.commits).toHaveLength(1);
    expect(git(cwd, "show", "agent/work:open.txt")).toBe("open");
    expect(runRefs(cwd)).toBe("");
  });

  it("ends the agent with everything it started: in a session of its own, forked twice, deaf to signals", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const mark = `mark-${process.pid}-${name}`;
    const { sandboxes, wait } = meetingPoint();
    const hold = (how: string) =>
      `${how} sh -c 'trap "" TERM HUP INT; while :; do sleep 0.1; done # ${mark}' >/dev/null 2>&1 </dev/null &`;
    const running = settled(
      play(
        cwd,
        [
          shell(
            hold(""),
            hold("setsid"),
            `(setsid sh -c "${hold("nohup").replaceAll('"', '\\"')}" &)`,
            "sleep 0.2",
          ),
          wait,
        ],
        {
          sandbox: sandboxes[name](),
          branchStrategy,
          signal: controller.signal,
        },
      ),
    );
    await waitFor(() => marked(mark).length >= 3);
    controller.abort();
    await running;
    await waitFor(() => marked(mark).length === 0, 5000);
  });

  it("while the commits are brought home does not lose them", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Changed();
    const sandbox = stalling(name, "export", () => controller.abort(reason));
    const ended = await settled(
      play(cwd, [{ commit: "Committed" }], { sandbox, branchStrategy, signal: controller.signal }),
    );
    if (ended.value === undefined) expect(ended.reason).toBe(reason);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Committed");
    expect(locksOf(cwd)).toEqual([]);
  });
});

/** A filter of the user's own that makes every checkout of a `.slow` file wait, so that a test can act meanwhile. */
const slowCheckout = (cwd: string) => {
  const directory = temporaryDirectory();
  const program = join(directory, "smudge");
  writeFileSync(
    program,
    `#!/bin/sh\nif [ -e ${directory}/armed ]; then touch ${directory}/here; until [ -e ${directory}/go ]; do sleep 0.02; done; fi\ncat\n`,
  );
  chmodSync(program, 0o755);
  git(cwd, "config", "filter.slow.smudge", program);
  git(cwd, "config", "filter.slow.clean", "cat");
  writeFileSync(join(cwd, ".gitattributes"), "*.slow filter=slow\n");
  writeFileSync(join(cwd, "a.slow"), "base\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Slow files");
  return {
    arm: () => writeFileSync(join(directory, "armed"), ""),
    here: () => waitFor(() => existsSync(join(directory, "here"))),
    go: () => writeFileSync(join(directory, "go"), ""),
  };
};

describe("aborting a merge-to-head run", () => {
  it("while the checkout is being moved leaves the checkout whole: at the old commit or at the new one", async () => {
    const cwd = temporaryRepository();
    const slow = slowCheckout(cwd);
    const before = git(cwd, "rev-parse", "main");
    const controller = new AbortController();
    const reason = new Changed();
    const { sandboxes, wait, meet } = meetingPoint();
    const running = settled(
      play(
        cwd,
        [wait, { commit: "Work", files: { "0-first.txt": "1\n", "a.slow": "agent\n", "z-last.txt": "2\n" } }],
        {
          branchStrategy: STRATEGIES["merge-to-head"],
          sandbox: sandboxes.bubblewrap(),
          signal: controller.signal,
        },
      ),
    );
    await meet(slow.arm);
    await slow.here();
    controller.abort(reason);
    slow.go();
    const ended = await running;
    expect(ended.reason ?? reason).toBe(reason);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(cwd, ".git/index.lock"))).toBe(false);
    const tip = git(cwd, "rev-parse", "main");
    if (tip === before) expect(git(cwd, "branch", "--list", "sanddune/*")).not.toBe("");
    else expect(git(cwd, "log", "-1", "--format=%s", "main")).toBe("Work");
    expect(locksOf(cwd)).toEqual([]);
  });

  it("while the worktree is being made leaves no worktree, branch or lock", async () => {
    const cwd = temporaryRepository();
    const slow = slowCheckout(cwd);
    const before = userRefs(cwd);
    const controller = new AbortController();
    const reason = new Changed();
    slow.arm();
    const running = settled(
      play(cwd, [{ commit: "Work" }], {
        branchStrategy: STRATEGIES["merge-to-head"],
        signal: controller.signal,
      }),
    );
    await slow.here();
    controller.abort(reason);
    slow.go();
    expect((await running).reason).toBe(reason);
    expect(userRefs(cwd)).toBe(before);
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(runRefs(cwd)).toBe("");
    expect(locksOf(cwd)).toEqual([]);
  });
});

it("a run that is aborted with an agent that cannot be asked to stop still ends", async () => {
  const cwd = temporaryRepository();
  const controller = new AbortController();
  const running = settled(
    run({
      agent: command("trap '' TERM INT HUP; touch here; while :; do sleep 1; done"),
      sandbox: SANDBOXES.bubblewrap(),
      prompt: "x",
      cwd,
      signal: controller.signal,
    }),
  );
  await waitFor(() => existsSync(join(cwd, "here")));
  controller.abort("enough");
  expect((await running).reason).toBe("enough");
  expect(execFileSync("sh", ["-c", `ls ${cwd}/here`], { encoding: "utf8" })).toContain("here");
});

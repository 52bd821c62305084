import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExecOptions, SandboxProvider } from "../../../src/index.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
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
} from "../../security/support.ts";
import { HARD_TO_END, hardToEnd, hookScene, newMark } from "./hookScenes.ts";

const settled = (running: Promise<unknown>) =>
  running.then(
    (value) => ({ value, reason: undefined }),
    (reason: unknown) => ({ value: undefined, reason }),
  );

/** An own object: the promise is that the caller gets back the very same one. */
class Changed {
  readonly why = "the user changed their mind";
}

const branchStrategy = STRATEGIES.branch;

const expectNothingMade = (cwd: string, before: string): void => {
  expect(userRefs(cwd)).toBe(before);
  expect(runRefs(cwd)).toBe("");
  expect(worktreesOf(cwd)).toEqual([cwd]);
  expect(locksOf(cwd)).toEqual([]);
};

it("an already aborted signal creates nothing", async () => {
  const cwd = temporaryRepository();
  const before = userRefs(cwd);
  const reason = new Changed();
  const signal = AbortSignal.abort(reason);
  const { reason: thrown } = await settled(
    play(cwd, [{ commit: "x" }], { signal, branchStrategy, sandbox: SANDBOXES.isolated() }),
  );
  expect(thrown).toBe(reason);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
  expect(userRefs(cwd)).toBe(before);
});

describe("aborting", () => {
  it.each(["preflight", "create"] as const)("during %s leaves nothing behind", async (step) => {
    const cwd = temporaryRepository();
    const before = userRefs(cwd);
    const controller = new AbortController();
    const reason = new Changed();
    const untilAborted = ({ signal }: { readonly signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        controller.abort(reason);
      });
    const sandbox: SandboxProvider = { ...SANDBOXES.isolated(), [step]: untilAborted };
    const { reason: thrown } = await settled(
      play(cwd, [{ commit: "x" }], { sandbox, branchStrategy, signal: controller.signal }),
    );
    expect(thrown).toBe(reason);
    expectNothingMade(cwd, before);
  });
});

/** A provider that tells when the agent has ended, before its work is brought home. */
const tellingOfTheEnd = (name: SandboxName, ended: () => void): SandboxProvider => {
  const provider = SANDBOXES[name]();
  const create = async (options: never) => {
    const handle = await provider.create(options);
    const exec = async (line: string, more?: ExecOptions) => {
      const result = await handle.exec(line, more);
      if (line.includes("sh -s")) ended();
      return result;
    };
    return { ...handle, exec };
  };
  return { ...provider, create } as SandboxProvider;
};

for (const name of ["bubblewrap", "isolated"] as const) {
  describeWith(name === "isolated" ? [] : [name], `aborting on ${name}`, () => {
    it("during the agent ends it with everything it started, deaf as it is, imports its commits, keeps the worktree, and lets the branch be used again", async () => {
      const cwd = temporaryRepository();
      const controller = new AbortController();
      const reason = new Changed();
      const mark = newMark();
      const { directory, sandboxes } = hookScene();
      const deaf = shell(
        "echo open > open.txt",
        hardToEnd(mark),
        `touch ${directory}/here; trap '' TERM INT HUP; while :; do sleep 60; done # ${mark}`,
      );
      const running = settled(
        play(cwd, [{ commit: "Committed", files: { "a.txt": "a\n" } }, deaf, { commit: "Never" }], {
          sandbox: sandboxes[name](),
          branchStrategy,
          signal: controller.signal,
        }),
      );
      await waitFor(() => existsSync(join(directory, "here")) && processesWith(mark).length > HARD_TO_END);
      controller.abort(reason);
      expect((await running).reason).toBe(reason);
      await waitFor(() => processesWith(mark).length === 0, 5000);
      expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Committed");
      const kept = worktreesOf(cwd).at(1) as string;
      expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
      expect(locksOf(cwd)).toEqual([]);

      const next = await play(cwd, [{ commit: "Next" }], { sandbox: SANDBOXES[name](), branchStrategy });
      expect(next.commits).toHaveLength(1);
      expect(git(cwd, "show", "agent/work:open.txt")).toBe("open");
      expect(runRefs(cwd)).toBe("");
    });

    it("while the commits are imported does not lose them", async () => {
      const cwd = temporaryRepository();
      const controller = new AbortController();
      const reason = new Changed();
      const sandbox = tellingOfTheEnd(name, () => controller.abort(reason));
      const ended = await settled(
        play(cwd, [{ commit: "Committed" }], { sandbox, branchStrategy, signal: controller.signal }),
      );
      expect(controller.signal.aborted).toBe(true);
      if (ended.value === undefined) expect(ended.reason).toBe(reason);
      expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Committed");
      expect(locksOf(cwd)).toEqual([]);
    });
  });
}

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

describeWith(["bubblewrap"], "aborting a merge-to-head run", () => {
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
});

describe("aborting a merge-to-head run", () => {
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
        sandbox: SANDBOXES.isolated(),
        signal: controller.signal,
      }),
    );
    await slow.here();
    controller.abort(reason);
    slow.go();
    expect((await running).reason).toBe(reason);
    expectNothingMade(cwd, before);
  });
});

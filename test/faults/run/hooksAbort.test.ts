import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { journalsOf, play, STRATEGIES, userRefs, worktreesOf } from "../../security/support.ts";
import {
  HARD_TO_END,
  HOOK_NAMES,
  type HookName,
  hardToEnd,
  hookScene,
  hooksAt,
  newMark,
} from "./hookScenes.ts";

/** An own object: the promise is that the caller gets back the very same one. */
class Changed {
  readonly why = "the user changed their mind";
}

type SandboxName = keyof ReturnType<typeof hookScene>["sandboxes"];

/** Aborts while a hook, of which `prepare` is the beginning, holds on to everything. */
const abortDuring = async (
  hook: HookName,
  sandboxName: SandboxName,
  { prepare = ":", ...how }: { readonly prepare?: string; readonly sudo?: boolean } = {},
) => {
  const cwd = temporaryRepository();
  const before = userRefs(cwd);
  const { directory, sandboxes } = hookScene();
  const mark = newMark();
  const controller = new AbortController();
  const reason = new Changed();
  const command = `${prepare}\n${hardToEnd(mark)}\ntrap '' TERM; touch ${directory}/here; while :; do sleep 60; done # ${mark}`;
  const later = { command: `touch ${directory}/later` };
  const running = play(cwd, [{ commit: "never" }], {
    sandbox: sandboxes[sandboxName](),
    branchStrategy: STRATEGIES.branch,
    hooks: hooksAt(hook, { command, ...how }, later),
    signal: controller.signal,
  }).then(
    () => "the run succeeded",
    (thrown: unknown) => thrown,
  );
  await waitFor(() => existsSync(join(directory, "here")) && processesWith(mark).length > HARD_TO_END);
  controller.abort(reason);
  expect(await running).toBe(reason);
  await waitFor(() => processesWith(mark).length === 0, 5000);
  expect(existsSync(join(directory, "later"))).toBe(false);
  return { cwd, isUnchanged: () => userRefs(cwd) === before };
};

const expectNothingLeft = ({ cwd, isUnchanged }: Awaited<ReturnType<typeof abortDuring>>): void => {
  expect(isUnchanged()).toBe(true);
  expect(leftovers(cwd)).toEqual([]);
  expect(worktreesOf(cwd)).toEqual([cwd]);
  expect(journalsOf(cwd).join("")).toContain('"state":"aborted"');
};

const expectWorkKept = (cwd: string): void => {
  const kept = worktreesOf(cwd).at(1) as string;
  expect(readFileSync(join(kept, "work.txt"), "utf8")).toBe("precious\n");
  expect(journalsOf(cwd).join("")).toContain('"kept"');
};

const prepare = "echo precious > work.txt";

describe("aborting on isolated", () => {
  it.each(HOOK_NAMES)("during %s ends it with all it started, and leaves nothing", async (hook) => {
    expectNothingLeft(await abortDuring(hook, "isolated"));
  });

  it("during a hook ends it with all it started, and keeps the worktree if something was changed in it", async () => {
    expectWorkKept((await abortDuring("host.onWorktreeReady", "isolated", { prepare })).cwd);
  });
});

describeWith(["bubblewrap"], "aborting on bubblewrap", () => {
  it("during a hook ends it with all it started, and keeps the worktree if something was changed in it", async () => {
    expectWorkKept((await abortDuring("sandbox.onSandboxReady", "bubblewrap", { prepare })).cwd);
  });
});

describeWith(["docker"], "aborting on docker", () => {
  it("during a hook that is root ends it with all it started, as other users too, and leaves nothing", async () => {
    const aborted = await abortDuring("sandbox.onSandboxReady", "docker", {
      sudo: true,
      prepare: "setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000 &",
    });
    expectNothingLeft(aborted);
    const ps = ["ps", "--all", "--quiet", "--filter", `label=sanddune.repository=${aborted.cwd}`];
    expect(spawnSync("docker", ps, { encoding: "utf8" }).stdout.trim()).toBe("");
  });
});

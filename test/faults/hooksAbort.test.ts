import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { journalsOf, play, STRATEGIES, userRefs, worktreesOf } from "../security/support.ts";
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

/** An own object: the promise is that the caller gets back the very same one. */
class Changed {
  readonly why = "the user changed their mind";
}

type SandboxName = keyof ReturnType<typeof hookScene>["sandboxes"];

const containersOf = (cwd: string): string =>
  spawnSync("docker", ["ps", "--all", "--quiet", "--filter", `label=sanddune.repository=${cwd}`], {
    encoding: "utf8",
  }).stdout.trim();

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
  const command = `${prepare}\n${hardToEnd(mark)}\ntrap '' TERM; touch ${directory}/here; while :; do sleep 0.1; done # ${mark}`;
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
  await waitFor(() => existsSync(join(directory, "here")) && marked(mark).length > HARD_TO_END);
  controller.abort(reason);
  expect(await running).toBe(reason);
  await waitFor(() => marked(mark).length === 0, 5000);
  expect(existsSync(join(directory, "later"))).toBe(false);
  return { cwd, isUnchanged: () => userRefs(cwd) === before };
};

for (const name of ["bubblewrap", "isolated", "docker"] as const) {
  describeWith(name === "isolated" ? [] : [name], `aborting on ${name}`, () => {
    it.each(HOOK_NAMES)("during %s ends it with all it started, and leaves nothing", async (hook) => {
      const { cwd, isUnchanged } = await abortDuring(hook, name);
      expect(isUnchanged()).toBe(true);
      expect(leftovers(cwd)).toEqual([]);
      expect(worktreesOf(cwd)).toEqual([cwd]);
      if (name === "docker") expect(containersOf(cwd)).toBe("");
      expect(journalsOf(cwd).join("")).toContain('"state":"aborted"');
    });
  });
}

it.each(HOOK_NAMES)("aborting during %s keeps the worktree if something was changed in it", async (hook) => {
  const { cwd } = await abortDuring(hook, "bubblewrap", { prepare: "echo precious > work.txt" });
  const kept = worktreesOf(cwd).at(1) as string;
  expect(readFileSync(join(kept, "work.txt"), "utf8")).toBe("precious\n");
  expect(journalsOf(cwd).join("")).toContain('"kept"');
});

describeWith(["docker"], "aborting a hook that is root", () => {
  it("ends it with all it started, as other users too", async () => {
    const asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000 &";
    const { cwd, isUnchanged } = await abortDuring("sandbox.onSandboxReady", "docker", {
      sudo: true,
      prepare: asNobody,
    });
    expect(isUnchanged()).toBe(true);
    expect(leftovers(cwd)).toEqual([]);
    expect(containersOf(cwd)).toBe("");
  });
});

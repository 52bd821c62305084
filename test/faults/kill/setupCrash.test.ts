import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { runCli } from "../../cli/callCli.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  drafts,
  imagesOf,
  kept,
  onBranch,
  packageRepository,
  ranTimes,
  setupHook,
} from "../../integration/setup/scene.ts";
import { locksOf, mustSucceed, play, STRATEGIES, shell } from "../../security/support.ts";
import { worktreeFor } from "../clean/deadRuns.ts";
import { killWhen, useProgram } from "./killedPrograms.ts";
import type { RunsOrder, SandboxName } from "./runsUntilKilled.ts";

const BRANCH = "agent/work";
/** Enough that copying them takes a while. */
const FILES = 3000;

const useKilledRun = () => {
  const program = useProgram("runsUntilKilled.ts");
  return async (
    sandbox: SandboxName,
    when: (cwd: string, marks: string) => boolean,
    { cwd = packageRepository(), fills = true, mayEnd = false } = {},
  ) => {
    const marks = temporaryDirectory();
    const count = { path: join(marks, "count"), mounts: [{ hostPath: marks, sandboxPath: marks }] };
    const hooks = setupHook(count, { files: FILES });
    const PROVIDERS = {
      bubblewrap: () => bubblewrap({ mounts: count.mounts }),
      docker: () => docker({ imageName: TEST_IMAGE, mounts: count.mounts }),
    } as const;
    const provider = PROVIDERS[sandbox as "bubblewrap" | "docker"];
    if (!fills)
      await play(cwd, [{ commit: "First" }], { ...onBranch("agent/first"), sandbox: provider(), hooks });
    const steps = [shell(`echo open > open.txt; touch ${marks}/reached; sleep 600`)];
    const run = { name: "run", sandbox, branchStrategy: STRATEGIES.branch, steps, hooks };
    const order: RunsOrder = { cwd, marks, image: TEST_IMAGE, runs: [run] };
    await killWhen(program(), { order, when: () => when(cwd, marks), mayEnd });
    const next = (branch = "agent/next") =>
      play(cwd, [mustSucceed("test -e node_modules/dep/3000.js"), { commit: "Next" }], {
        ...onBranch(branch),
        sandbox: provider(),
        hooks,
      });
    return { cwd, count, next };
  };
};

type Moment = [string, (cwd: string, marks: string) => boolean];

const atWork = (_: string, marks: string) => existsSync(join(marks, "reached"));
const fillsDraft = (cwd: string) => drafts(cwd).length > 0;

for (const sandbox of ["bubblewrap", "docker"] as const) {
  describeWith([sandbox], `SIGKILL while a set-up is kept (${sandbox})`, () => {
    const killedRun = useKilledRun();
    const MOMENTS: readonly Moment[] = [
      ["runs the hooks", (_, marks) => existsSync(join(marks, "count"))],
      ["copies the files", fillsDraft],
      [
        "has a record of what it is about to make",
        (cwd) =>
          drafts(cwd).some((name) =>
            existsSync(join(cwd, ".git/sanddune/setups", name, "layer/node_modules")),
          ),
      ],
      ...(sandbox === "docker"
        ? [["has made the image", (cwd) => imagesOf(cwd).length > 0] satisfies Moment]
        : []),
    ];

    it.each(MOMENTS)(
      "when it %s: the next run makes it, whole, and clean leaves nothing",
      async (_, when) => {
        const { cwd, next } = await killedRun(sandbox, when);
        expect((await next()).commits).toHaveLength(1);
        expect(kept(cwd)).toHaveLength(1);
        expect(drafts(cwd)).toEqual([]);
        expect(readdirSync(join(kept(cwd)[0] ?? "", "layer/node_modules/dep"))).toHaveLength(FILES + 1);
        if (sandbox === "docker") expect(imagesOf(cwd)).toHaveLength(1);
        await runCli(["clean", "--yes"], { cwd });
        expect([kept(cwd), drafts(cwd), locksOf(cwd)]).toEqual([[], [], []]);
        if (sandbox === "docker") expect(imagesOf(cwd)).toEqual([]);
      },
    );

    it("when it copies the files: clean alone removes the draft", async () => {
      const { cwd } = await killedRun(sandbox, fillsDraft);
      await runCli(["clean", "--yes"], { cwd });
      expect([kept(cwd), drafts(cwd)]).toEqual([[], []]);
      expect((await runCli(["clean", "--yes"], { cwd })).stdout).toContain("nothing to clean up");
      if (sandbox === "docker") expect(imagesOf(cwd)).toEqual([]);
    });

    it("when an agent works on it: rescue keeps its work with the kept files, and clean waits for that", async () => {
      const cwd = packageRepository(largeRepository());
      const { count } = await killedRun(sandbox, atWork, { cwd, fills: false });
      expect(ranTimes(count)).toBe(1);
      const run = readdirSync(join(cwd, ".sanddune/runs")).at(-1) as string;
      expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
      const path = worktreeFor(cwd, BRANCH);
      expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
      expect(readdirSync(join(path, "node_modules/dep"))).toHaveLength(FILES + 1);
      expect(git(path, "status", "--porcelain")).toBe("?? open.txt");
      await runCli(["clean", "--yes"], { cwd });
      expect(kept(cwd)).toEqual([]);
      expect(readdirSync(join(path, "node_modules/dep"))).toHaveLength(FILES + 1);
    });
  });
}

describeWith(["docker"], "a kept set-up whose image someone removed", () => {
  it("is noticed and said, and the hooks run again", async () => {
    const cwd = packageRepository();
    const marks = temporaryDirectory();
    const count = { path: join(marks, "count"), mounts: [{ hostPath: marks, sandboxPath: marks }] };
    const play1 = (branch: string) =>
      play(
        cwd,
        [
          mustSucceed("test -e node_modules/dep/3.js && test -e /tmp/made && test -e $HOME/tool"),
          { commit: "x" },
        ],
        {
          ...onBranch(branch),
          sandbox: docker({ imageName: TEST_IMAGE, mounts: count.mounts }),
          hooks: setupHook(count),
        },
      );
    await play1("agent/1");
    execFileSync("docker", ["image", "rm", "--force", ...imagesOf(cwd)]);
    const second = await play1("agent/2");
    expect(readFileSync(second.logFilePath, "utf8")).toMatch(
      /The kept set-up is not used, because .*does not exist any more/,
    );
    expect(ranTimes(count)).toBe(2);
    await play1("agent/3");
    expect(ranTimes(count)).toBe(2);
    await runCli(["clean", "--yes"], { cwd });
    expect(imagesOf(cwd)).toEqual([]);
  });
});

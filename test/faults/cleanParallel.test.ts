import { expect, it } from "vitest";
import { repositoryWithAgent, subjectsOf } from "../cli/fixtures.ts";
import { clean, commits, deadRun, ps, sandboxFlags } from "../cli/hangingRuns.ts";
import { runCli } from "../cli/startCli.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

const NUMBERS = [1, 2, 3, 4, 5, 6];

describeWith(["bubblewrap"], "clean at the same time as", () => {
  it.each([[["--yes"]], [["--yes", "--records"]]])(
    "another clean: each thing is removed once (%j)",
    async (flags) => {
      const { cwd } = await deadRun();
      await deadRun({ cwd, flags: ["--branch", "other"] });
      const all = await Promise.all([1, 2, 3].map(() => clean(cwd, ...flags)));
      const removed = all.flat().filter(({ outcome }) => outcome === "removed");
      expect(all.flat().filter(({ outcome }) => outcome === "failed")).toEqual([]);
      expect(new Set(removed.map(({ name }) => name)).size).toBe(removed.length);
      expect(leftovers(cwd)).toEqual([]);
    },
  );

  it("runs: none of them fails, and none loses a commit", async () => {
    const cwd = repositoryWithAgent(`cat > /dev/null; ${commits("work")}`);
    const flags = ["--agent-command", "sh ./agent.sh", "--prompt", "Work", ...sandboxFlags("bubblewrap")];
    let isOver = false;
    const cleaning = (async () => {
      const outcomes = [];
      while (!isOver) outcomes.push(...(await clean(cwd, "--yes", "--records")));
      return outcomes;
    })();
    for (const number of NUMBERS) {
      const { exitCode, stderr } = await runCli(["run", ...flags, "--branch", `b${number}`], { cwd });
      expect({ number, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    }
    isOver = true;
    expect((await cleaning).filter(({ what }) => what !== "record")).toEqual([]);
    for (const number of NUMBERS) expect(subjectsOf(cwd, `b${number}`)[0]).toBe("work");
    await clean(cwd, "--yes", "--records");
    expect(await ps(cwd)).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
    git(cwd, "fsck", "--connectivity-only");
  });
});

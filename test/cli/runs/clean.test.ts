import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { play } from "../../security/support.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched } from "../fixtures.ts";
import { clean, deadRun, ps } from "./hangingRuns.ts";

/** Everything below a directory, with what it is, when it was changed and, if it is a file, what is in it. */
const treeOf = (directory: string): string =>
  execFileSync(
    "sh",
    [
      "-c",
      "find . -printf '%p %y %m %s %T@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum",
    ],
    { cwd: directory, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );

describe("sanddune clean", () => {
  it("where nothing ever ran says that there is nothing to do, and makes nothing", async () => {
    const cwd = temporaryRepository();
    const temporary = temporaryDirectory();
    for (const flags of [[], ["--dry-run"], ["--yes"]]) {
      const { exitCode, stdout } = await runCli(["clean", ...flags], { cwd, env: { TMPDIR: temporary } });
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "There is nothing to clean up.\n" });
    }
    expectUntouched(cwd);
  });

  it("is either a rehearsal or not", async () => {
    const { exitCode, stderr } = await runCli(["clean", "--dry-run", "--yes"], {
      cwd: temporaryRepository(),
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--dry-run");
  });

  it.each(["--run", "--branch"])("takes no flag for the value that %s lacks", async (flag) => {
    const { exitCode, stderr } = await runCli(["clean", flag, "--yes"], { cwd: temporaryRepository() });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("The value is missing"),
    });
  });

  it.each([["--run", "x"], ["--branch", "b"], ["--records"], ["--cwd", "."]])(
    "outside of a repository says that there is none, if it was asked for what is in one (%s)",
    async (...flags) => {
      const { exitCode, stderr } = await runCli(["clean", "--yes", ...flags], { cwd: temporaryDirectory() });
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^error: .*git/);
    },
  );

  it("outside of a repository looks for what belongs to none, and says so", async () => {
    const env = { TMPDIR: temporaryDirectory() };
    const { exitCode, stdout, stderr } = await runCli(["clean", "--yes"], { cwd: temporaryDirectory(), env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "There is nothing to clean up.\n" });
    expect(stderr).toMatch(/^This is not a git repository, so only sandboxes/);
  });
});

describeWith(["bubblewrap"], "sanddune clean without --yes", () => {
  it("changes nothing, whatever it is asked about", async () => {
    const temporary = temporaryDirectory();
    const { cwd, runId } = await deadRun({ script: commits("work"), env: { TMPDIR: temporary } });
    const before = [treeOf(cwd), treeOf(temporary)];
    for (const flags of [[], ["--records"], ["--branch", "b"]]) {
      const { exitCode, stdout } = await runCli(["clean", ...flags], { cwd });
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^Would be removed:\n/);
      expect(stdout).toContain(runId);
      expect(stdout).toMatch(
        new RegExp(
          `\nNothing was removed\\. To remove: .*sanddune ${["clean", ...flags].join(" ")} --yes\n$`,
        ),
      );
    }
    expect([treeOf(cwd), treeOf(temporary)]).toEqual(before);
  });
});

describeWith(["bubblewrap"], "sanddune clean --records of a run of which something stays", () => {
  it("leaves its journal and run log, and reports each leftover with the reason as JSON", async () => {
    const { cwd, runId } = await deadRun({ script: commits("work") });
    const files = join(cwd, ".sanddune/runs", runId, "files");
    // As a power cut leaves a file that was written last.
    writeFileSync(join(files, "git/refs/heads/b"), "");
    const outcomes = await clean(cwd, "--yes", "--records");
    expect(outcomes).toContainEqual({
      what: "sandbox",
      name: expect.stringContaining(`sanddune-bubblewrap-sanddune-${runId}`),
      runIds: [runId],
      detail: "its process is dead",
      outcome: "removed",
    });
    expect(outcomes).toContainEqual({
      what: "files",
      name: files,
      runIds: [runId],
      detail: "the sandbox git directory",
      keptBecause: expect.stringMatching(
        `^it holds commits that were not imported. To try again: .*sanddune rescue ${runId}$`,
      ),
      goesIfNamed: true,
      outcome: "kept",
    });
    expect(outcomes).toContainEqual({
      what: "ref",
      name: `refs/sanddune/base/${runId}`,
      runIds: [runId],
      detail: `at ${git(cwd, "rev-parse", "main")}`,
      keptBecause: "files of the run that are kept build on it",
      outcome: "kept",
    });
    expect(outcomes.filter(({ what }) => what === "record")).toEqual([]);
    expect(await ps(cwd)).toMatchObject([{ runId }]);
    expect(existsSync(join(cwd, ".sanddune/logs", `${runId}.log`))).toBe(true);
  });
});

describe("sanddune clean --records", () => {
  it("removes journals and run logs of runs of which nothing else is left", async () => {
    const cwd = temporaryRepository();
    await play(cwd, [{ commit: "One" }], { sandbox: testIsolated() });
    expect(await clean(cwd, "--yes")).toEqual([]);
    expect(await ps(cwd)).toHaveLength(1);
    await clean(cwd, "--yes", "--records");
    expect(await ps(cwd)).toEqual([]);
    for (const part of ["runs", "logs", "worktrees"]) {
      expect(readdirSync(join(cwd, ".sanddune", part))).toEqual([".gitignore"]);
    }
  });
});

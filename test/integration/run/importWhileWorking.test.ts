import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { ImportInterval } from "../../../src/engine/iterations/importWhileWorking.ts";
import { planRun } from "../../../src/engine/plan/planRun.ts";
import { liveRun } from "../../../src/engine/session/liveRun.ts";
import { runSession } from "../../../src/engine/session/runSession.ts";
import { type RunOptions, SandboxLostError, type ScriptedStep } from "../../../src/index.ts";
import type { SandboxRunResult } from "../../../src/options/results.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import type { IsolatedSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../../security/support.ts";
import { commit, gate, mortal, onBranch, task } from "../fleet/fleets.ts";

const INTERVAL_MS = 100;

/** As `run()`, with an import every tenth of a second while the agent works. */
const runImporting = (options: RunOptions): Promise<SandboxRunResult> =>
  runAtBoundary(
    liveRun<unknown>(Effect.flatMap(planRun(options), runSession)).pipe(
      Effect.provideService(ImportInterval, INTERVAL_MS),
    ),
    options.signal,
  );

const BRANCH = "agent/work";

const branchTask = (cwd: string, steps: readonly ScriptedStep[], overrides: object = {}): RunOptions =>
  task(cwd, steps, { ...onBranch(BRANCH), ...overrides });

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const subjects = (cwd: string): string[] =>
  git(cwd, "branch", "--list", BRANCH) === ""
    ? []
    : lines(git(cwd, "log", "--reverse", "--format=%s", `main..${BRANCH}`));

const checkpointsIn = (cwd: string): string[] =>
  lines(git(cwd, "for-each-ref", "--format=%(objectname)", "refs/sanddune/")).filter((sha) =>
    git(cwd, "log", "-1", "--format=%s", sha).startsWith("Checkpoint"),
  );

/** The only worktree that a run has made. */
const worktreeOf = (cwd: string): string =>
  git(cwd, "worktree", "list", "--porcelain")
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length))[1] ?? "";

/** Counts how often what is new in the sandbox was asked for. */
const counting = () => {
  const provider = testIsolated();
  let exports = 0;
  const sandbox: IsolatedSandboxProvider = {
    ...provider,
    create: async (options) => {
      const handle = await provider.create(options);
      return {
        ...handle,
        exec: async (line, execOptions) => {
          const result = await handle.exec(line, execOptions);
          if (line.includes("sanddune-export.bundle")) exports++;
          return result;
        },
      };
    },
  };
  return { sandbox, exports: () => exports };
};

describe("an isolated sandbox that is lost while the agent works", () => {
  it("has its commits, its uncommitted files and its checkpoints on the host by then", async () => {
    const cwd = temporaryRepository();
    const { wait, reached } = gate();
    const { sandbox, die } = mortal();
    const steps = [commit("first"), commit("second"), { shell: "echo open >open.txt" }, wait("end")];
    const failure = failureOf(runImporting(branchTask(cwd, steps, { sandbox, trajectory: true })));
    await reached("end");
    await waitFor(() => subjects(cwd).length === 2 && checkpointsIn(cwd).length > 0);
    await waitFor(() => existsSync(join(worktreeOf(cwd), "open.txt")));
    die();

    const error = await failure;
    expect(error).toBeInstanceOf(SandboxLostError);
    expect(error).toMatchObject({ commits: [{}, {}], branch: BRANCH });
    expect(subjects(cwd)).toEqual(["first", "second"]);
    const { preservedWorktreePath = "" } = error as SandboxLostError;
    expect(readFileSync(join(preservedWorktreePath, "open.txt"), "utf8")).toBe("open\n");
    expect(git(preservedWorktreePath, "status", "--porcelain")).toBe("?? open.txt");
  });

  it("leaves nothing behind of which clean says that it holds commits", async () => {
    const cwd = temporaryRepository();
    const { wait, reached } = gate();
    const { sandbox, die } = mortal();
    const failure = failureOf(runImporting(branchTask(cwd, [commit("first"), wait("end")], { sandbox })));
    await reached("end");
    await waitFor(() => subjects(cwd).length === 1);
    die();
    expect(await failure).toBeInstanceOf(SandboxLostError);
    const outcomes = await cleanUp(await findRepository(cwd), {
      ...{ remove: true, runs: [], branches: [], records: false },
    });
    expect(outcomes.filter(({ outcome }) => outcome !== "removed")).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
    expect(subjects(cwd)).toEqual(["first"]);
  });
});

/** A run whose process was killed when it had a bundle of its isolated sandbox, which was closed by then. */
describe("clean", () => {
  it("keeps the bundle of a dead isolated run, and nothing that was only sent in", async () => {
    const cwd = temporaryRepository();
    const { runId } = await runImporting(branchTask(cwd, [commit("first")]));
    const runDirectory = join(cwd, ".sanddune/runs", runId);
    const journal = lines(readFileSync(join(runDirectory, "journal.jsonl"), "utf8"));
    const alive = journal.filter((line) => !line.includes('"ended"'));
    writeFileSync(
      join(runDirectory, "journal.jsonl"),
      alive.map((line) => `${line.replace(/"pid":\d+/, '"pid":999999999')}\n`).join(""),
    );
    const files = join(runDirectory, "files");
    mkdirSync(files);
    for (const name of ["in.bundle", "in.config", "iteration-1.bundle"]) writeFileSync(join(files, name), "");
    const clean = async () =>
      (
        await cleanUp(await findRepository(cwd), { remove: true, runs: [], branches: [], records: false })
      ).filter(({ what }) => what === "files");
    expect(await clean()).toMatchObject([{ name: files, outcome: "kept" }]);
    rmSync(join(files, "iteration-1.bundle"));
    expect(await clean()).toMatchObject([{ name: files, outcome: "removed" }]);
  });
});

describe("imports while the agent works", () => {
  it("follow an agent that rewrites what was imported, and change nothing about the result", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const steps = [
      commit("draft"),
      wait("drafted"),
      { shell: "git commit -q --amend -m final" },
      wait("amended"),
      commit("more"),
    ];
    const running = runImporting(branchTask(cwd, steps, { trajectory: true }));
    await reached("drafted");
    await waitFor(() => subjects(cwd).join() === "draft");
    open("drafted");
    await reached("amended");
    await waitFor(() => subjects(cwd).join() === "final");
    open("amended");
    const { commits, warnings } = await running;
    expect(commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha))).toEqual(["final", "more"]);
    expect(warnings).toEqual([]);
    expect(subjects(cwd)).toEqual(["final", "more"]);
  });

  it("that fail are no problem of a run whose last import does not", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const { sandbox, exports } = counting();
    const steps = [
      commit("first"),
      { shell: "mv .git ../away" },
      wait("broken"),
      { shell: "mv ../away .git" },
      commit("second"),
    ];
    const running = runImporting(branchTask(cwd, steps, { sandbox }));
    await reached("broken");
    const before = exports();
    await waitFor(() => exports() >= before + 2);
    open("broken");
    const { commits, warnings } = await running;
    expect(commits).toHaveLength(2);
    expect(warnings).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("end with an abort, which keeps what they have imported", async () => {
    const cwd = temporaryRepository();
    const { wait, reached } = gate();
    const controller = new AbortController();
    const reason = new Error("enough");
    const steps = [commit("first"), wait("end")];
    const failure = failureOf(runImporting(branchTask(cwd, steps, { signal: controller.signal })));
    await reached("end");
    await waitFor(() => subjects(cwd).length === 1);
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(subjects(cwd)).toEqual(["first"]);
  });

  it("import every stash that the agent has made between them", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const stash = (name: string) => ({ shell: `echo ${name} >${name}; git stash --quiet -u -m ${name}` });
    const stashes = () =>
      lines(git(cwd, "for-each-ref", "--format=%(subject)", "refs/sanddune/runs")).map((line) =>
        line.replace(/^On .*: /, ""),
      );
    const running = runImporting(branchTask(cwd, [stash("one"), wait("one"), stash("two"), wait("two")]));
    await reached("one");
    await waitFor(() => stashes().includes("one"));
    open("one");
    await reached("two");
    await waitFor(() => stashes().includes("two"));
    open("two");
    await running;
    expect(stashes().sort()).toEqual(["one", "two"]);
  });
});

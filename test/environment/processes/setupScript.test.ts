import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { processIsAlive } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { useTool } from "../builtTool.ts";
import { definition, open } from "../serving.ts";

useTool();

const DEFINITION = definition(`tests: { made: ({ scratch }) => readFileSync(join(scratch, "made")) }`);

const withSetup = (script: string) => ({ "environment.mjs": DEFINITION, "setup.sh": script });

describe("setup.sh", () => {
  it("runs in the folder before the tests can, and leaves what it makes in the scratch directory", async () => {
    const { tests, progress, worktree } = await open(
      withSetup(
        `test -f environment.mjs && pwd > "$SANDDUNE_WORKTREE/where" && echo making; touch "$SANDDUNE_SCRATCH/made"`,
      ),
    );
    expect(progress).toEqual(["Running setup.sh", "setup.sh: making"]);
    expect(existsSync(join(worktree, "where"))).toBe(true);
    expect(await tests.run("")).toMatchObject({ passed: 1 });
  });

  it("may leave something in the background, which ends with the tests", async () => {
    const { tests, worktree } = await open(
      withSetup(`sleep 1009 & echo $! > "$SANDDUNE_WORKTREE/pid"; touch "$SANDDUNE_SCRATCH/made"`),
    );
    const pid = Number(readFileSync(join(worktree, "pid"), "utf8"));
    expect(await tests.run("")).toMatchObject({ passed: 1 });
    expect(processIsAlive(pid)).toBe(true);
    await tests.close();
    expect(processIsAlive(pid)).toBe(false);
  });

  it("that fails is reported with the end of its log", async () => {
    const failing = open(
      withSetup("for i in $(seq 5000); do echo line $i; done; echo cannot install >&2; exit 4"),
    );
    await expect(failing).rejects.toMatchObject({
      name: "EnvironmentStartError",
      problem: "setup.sh ended with exit code 4",
      log: expect.stringMatching(/line 4999\n[\s\S]*cannot install|cannot install[\s\S]*line 4999\n/),
    });
    const error = await failing.catch((reason) => reason);
    expect(error.log.length).toBeLessThan(20_000);
  });

  it("is ended when somebody changes their mind", async () => {
    const controller = new AbortController();
    const worktree = temporaryDirectory();
    const opening = open(withSetup(`echo $$ > "$SANDDUNE_WORKTREE/pid"; echo begun; sleep 1010`), {
      worktree,
      signal: controller.signal,
      onProgress: (sentence) => sentence.endsWith("begun") && controller.abort("enough"),
    });
    await expect(opening).rejects.toBe("enough");
    expect(processIsAlive(Number(readFileSync(join(worktree, "pid"), "utf8")))).toBe(false);
  });

  it("is not run by those who have it done already", async () => {
    const scratch = temporaryDirectory();
    const { tests, progress } = await open(withSetup("exit 1"), { runsSetup: false, scratch });
    expect(progress).toEqual([]);
    expect(await tests.run("")).toMatchObject({ failed: 1 });
    await tests.close();
    expect(existsSync(scratch)).toBe(true);
  });
});

it("the scratch directory goes with the tests, if it is their own", async () => {
  // In the directory that all share, other tests make such directories, too.
  const temporary = temporaryDirectory();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = () => readdirSync(temporary).filter((name) => name.startsWith("sanddune-tests-"));
  const { tests } = await open(
    withSetup(
      `touch "$SANDDUNE_SCRATCH/made"; mkdir "$SANDDUNE_SCRATCH/d"; touch "$SANDDUNE_SCRATCH/d/x"; chmod 500 "$SANDDUNE_SCRATCH/d"`,
    ),
  );
  expect(own()).toHaveLength(1);
  await tests.close();
  expect(own()).toEqual([]);
});

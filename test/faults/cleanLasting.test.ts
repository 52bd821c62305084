import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { subjectsOf } from "../cli/fixtures.ts";
import { clean, outcomesOf, ps } from "../cli/hangingRuns.ts";
import { runCli } from "../cli/startCli.ts";
import { bundle } from "../helpers/bundle.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import type { SandboxOrder } from "./sandboxUntilKilled.ts";

/** A repository in which a process with a sandbox that lasts has been killed. */
const killed = async (changes: Pick<SandboxOrder, "provider" | "isInWorktree">): Promise<string> => {
  const cwd = temporaryRepository();
  const marks = temporaryDirectory();
  const order: SandboxOrder = {
    cwd,
    branch: "b",
    image: TEST_IMAGE,
    runs: [[{ commit: "First" }]],
    marks,
    closes: false,
    ...changes,
  };
  const program = bundle(join(import.meta.dirname, "sandboxUntilKilled.ts"));
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    env: { ...process.env, TMPDIR: temporaryDirectory() },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await waitFor(() => existsSync(join(marks, "idle")));
  child.kill("SIGKILL");
  await once(child, "exit");
  return cwd;
};

for (const provider of ["bubblewrap", "docker"] as const) {
  describeWith([provider], `clean after the SIGKILL of a process with a lasting ${provider} sandbox`, () => {
    it("removes the sandbox and the worktree, and keeps what its calls have committed", async () => {
      const cwd = await killed({ provider });
      expect(await ps(cwd)).toMatchObject([
        { kind: "sandbox", state: "dead" },
        { kind: "run", state: "succeeded" },
      ]);
      expect(outcomesOf(await clean(cwd, "--yes")).sort()).toEqual([
        "removed files",
        "removed ref",
        "removed sandbox",
        "removed worktree",
      ]);
      expect(leftovers(cwd)).toEqual([]);
      expect(subjectsOf(cwd, "b")).toEqual(["First", "Initial commit"]);
    });
  });
}

describeWith(
  ["docker"],
  "clean after the SIGKILL of a process with a docker sandbox in a lasting worktree",
  () => {
    const worktreeIsThere = (cwd: string): boolean =>
      readdirSync(join(cwd, ".sanddune/worktrees")).length > 1;

    it("leaves the worktree alone as long as the sandbox may be at work in it", async () => {
      const cwd = await killed({ provider: "docker", isInWorktree: true });
      const { exitCode } = await runCli(["clean", "--yes"], {
        cwd,
        env: { DOCKER_HOST: "unix:///nonexistent/docker.sock" },
      });
      expect(exitCode).toBe(0);
      expect(worktreeIsThere(cwd)).toBe(true);
      await clean(cwd, "--yes");
      expect(leftovers(cwd)).toEqual([]);
      expect(subjectsOf(cwd, "b")).toEqual(["First", "Initial commit"]);
    });

    it("removes the sandbox with the worktree if that is named", async () => {
      const cwd = await killed({ provider: "docker", isInWorktree: true });
      const [worktree] = await ps(cwd);
      const outcomes = await clean(cwd, "--yes", "--run", worktree?.runId ?? "");
      expect(outcomesOf(outcomes)).toContain("removed sandbox");
      expect(leftovers(cwd)).toEqual([]);
    });
  },
);

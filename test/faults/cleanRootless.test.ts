import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { repositoryWithAgent } from "../cli/fixtures.ts";
import { hang, outcomesOf, type ToldRun } from "../cli/hangingRuns.ts";
import { builtCli } from "../helpers/built.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { AS_TEST_USER, describeWith, TEST_IMAGE, TEST_USER } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";

/** The command line, where an ordinary user can read it. */
const readableCli = (): string => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  cpSync(dirname(builtCli()), join(directory, "dist"), { recursive: true });
  return join(directory, "dist/cli.js");
};

describeWith(["rootless podman"], "clean after the SIGKILL of a run in rootless podman", () => {
  it("removes the container, the worktree and the files of the run", async () => {
    const cli = readableCli();
    const cwd = repositoryWithAgent(`eval "$(cat)"\n`);
    execFileSync("chown", ["-R", TEST_USER, cwd]);
    const asUser = (...args: string[]): string =>
      execFileSync(AS_TEST_USER ?? "", [process.execPath, cli, ...args, "--json"], { cwd, encoding: "utf8" });
    const runs = (): ToldRun[] => JSON.parse(asUser("ps"));
    const { line, isThere } = hang();
    const flags = ["--agent-command", "sh ./agent.sh", "--prompt", line, "--branch", "b"];
    const run = spawn(
      AS_TEST_USER ?? "",
      [process.execPath, cli, "run", ...flags, "--sandbox", "podman", "--image-name", TEST_IMAGE],
      { cwd, stdio: "ignore" },
    );
    await waitFor(isThere);
    const [running] = runs();
    process.kill(running?.pid ?? 0, "SIGKILL");
    await once(run, "exit");
    expect(runs()).toMatchObject([{ runId: running?.runId, state: "dead" }]);
    expect(outcomesOf(JSON.parse(asUser("clean", "--yes"))).sort()).toEqual([
      "removed files",
      "removed ref",
      "removed sandbox",
      "removed worktree",
    ]);
    await waitFor(() => !isThere());
    expect(JSON.parse(asUser("clean", "--yes"))).toEqual([]);
  });
});

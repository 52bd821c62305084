import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSandboxHandle, InvalidOptionsError, run, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { runCli } from "../cli/callCli.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

const play = (cwd: string, sandbox: ReturnType<typeof bubblewrap>, shell: string) =>
  run({
    agent: scripted([{ shell }]),
    sandbox,
    cwd,
    branchStrategy: { type: "branch", branch: "agent/x" },
    prompt: "x",
  });

describeWith(["bubblewrap"], "what decides what git runs on the host", () => {
  it.each([".", ".git", ".git/hooks", "link"])(
    "is not mounted as %s, and nothing is created",
    async (path) => {
      const cwd = temporaryRepository();
      symlinkSync(".git", join(cwd, "link"));
      for (const readOnly of [true, false]) {
        const sandbox = bubblewrap({ mounts: [{ hostPath: path, sandboxPath: "/mnt/x", readOnly }] });
        await expect(play(cwd, sandbox, "true")).rejects.toThrow(InvalidOptionsError);
      }
      expect(leftovers(cwd)).toEqual([]);
      expect(git(cwd, "branch", "--list", "agent/x")).toBe("");
    },
  );

  it.each([
    ["of the checkout", (cwd: string) => cwd],
    ["of its git directory", (cwd: string) => join(cwd, ".git")],
    ["of everything", () => "/"],
  ])("is not among the read-only paths: those %s", async (_, pathOf) => {
    const cwd = temporaryRepository();
    const sandbox = bubblewrap({ readOnlyPaths: [pathOf(cwd)] });
    await expect(play(cwd, sandbox, "true")).rejects.toMatchObject({
      name: "InvalidOptionsError",
      option: "readOnlyPaths",
      message: expect.stringContaining("`allowUnsafeMounts: true`"),
    });
  });

  it("is mounted if it is asked for by name", async () => {
    const cwd = temporaryRepository();
    const mounts = [{ hostPath: ".git", sandboxPath: "/mnt/git", readOnly: true }];
    const { stdout } = await run({
      agent: scripted([{ shell: "test -f /mnt/git/config && touch seen" }, { commit: "Seen" }]),
      sandbox: bubblewrap({ mounts, allowUnsafeMounts: true }),
      cwd,
      branchStrategy: { type: "branch", branch: "agent/x" },
      prompt: "x",
    });
    expect(stdout).toBe("");
    expect(git(cwd, "ls-tree", "--name-only", "agent/x").split("\n")).toContain("seen");
  });

  it("is refused by the command line, which names the flag", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli(
      [
        ...["run", "--agent-command", "touch /mnt/x/canary", "--sandbox", "bubblewrap"],
        ...["--branch", "agent/x", "--mount", ".git:/mnt/x", "--prompt", "x"],
      ],
      { cwd },
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--allow-unsafe-mounts");
    expect(existsSync(join(cwd, ".git/canary"))).toBe(false);
  });

  it("may be where no repository is: a directory that a sandbox without one mounts", async () => {
    const directory = temporaryDirectory();
    await using sandbox = await createSandboxHandle(
      bubblewrap({ mounts: [{ hostPath: directory, sandboxPath: "/mnt/x" }] }),
    );
    expect((await sandbox.run("echo kept >/mnt/x/file")).exitCode).toBe(0);
    expect(existsSync(join(directory, "file"))).toBe(true);
  });
});

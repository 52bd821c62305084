import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createStandaloneSandbox, InvalidOptionsError, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { runCli } from "../../cli/callCli.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount } from "../../sandboxes/openSandbox.ts";

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
    await using sandbox = await createStandaloneSandbox(
      bubblewrap({ mounts: [{ hostPath: directory, sandboxPath: "/mnt/x" }] }),
    );
    expect((await sandbox.run("echo kept >/mnt/x/file")).exitCode).toBe(0);
    expect(existsSync(join(directory, "file"))).toBe(true);
  });
});

describeWith(["bubblewrap"], "a directory of the repository that was mounted", () => {
  const secret = (): string => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "key"), "secret");
    return directory;
  };

  it.each(["data", "data/inner"])(
    "is not mounted once a link has taken its place that leads elsewhere: %s",
    async (hostPath) => {
      const cwd = temporaryRepository();
      const target = secret();
      mkdirSync(join(target, "inner"));
      symlinkSync(target, join(cwd, "data"));
      for (const sandbox of [
        bubblewrap({ mounts: [{ hostPath, sandboxPath: "/mnt/x" }] }),
        bubblewrap({ readOnlyPaths: [join(cwd, hostPath)] }),
      ]) {
        await expect(play(cwd, sandbox, "true")).rejects.toThrow("leads out of the repository");
      }
      expect(git(cwd, "branch", "--list", "agent/x")).toBe("");
    },
  );

  it("is not mounted where the agent works in that checkout, and could put a link in its place", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "data"));
    for (const sandbox of [
      bubblewrap({ mounts: [{ hostPath: "data", sandboxPath: "/mnt/x" }] }),
      bubblewrap({ readOnlyPaths: [join(cwd, "data")] }),
    ]) {
      const options = { agent: scripted([{ shell: "true" }]), sandbox, cwd, prompt: "x" };
      const head = run({ ...options, branchStrategy: { type: "head" } });
      await expect(head).rejects.toThrow(/data lies in .*, which the sandbox can write to/);
    }
  });

  it("is not looked up through a link that a command has put in its place", async () => {
    const target = secret();
    const worktree = temporaryDirectory();
    mkdirSync(join(worktree, "data"));
    const { sandbox } = await openBindMount(bubblewrap(), {
      mounts: [
        { hostPath: worktree, sandboxPath: "/sanddune/repo", readOnly: false },
        { hostPath: join(worktree, "data"), sandboxPath: "/mnt/data", readOnly: true },
      ],
    });
    try {
      const swap = `mv data former && ln -s ${target} data`;
      expect((await sandbox.exec(swap, { cwd: "/sanddune/repo" })).exitCode).toBe(0);
      await expect(sandbox.exec("cat /mnt/data/key")).rejects.toThrow("a command has moved or replaced");
    } finally {
      await sandbox.close();
    }
  });
});

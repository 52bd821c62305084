import { expect, it } from "vitest";
import { runCli } from "../cli/callCli.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster, IMAGE } from "./cluster.ts";

const AGENT = ["--agent-command", "cat >hello.txt; id -u >>hello.txt; git add .; git commit -qm Hello"];
const SANDBOX = ["--sandbox", "kubernetes", "--image-name", IMAGE];
const REST = ["--branch", "agent/hello", "--prompt", "hello ", "--json"];

describeWithCluster("sanddune run --sandbox kubernetes", () => {
  it("works in the cluster, with its own flags", async () => {
    const cwd = temporaryRepository();
    const flags = [
      "--context",
      "sanddune",
      "--namespace",
      "default",
      "--user",
      "1000",
      "--memory",
      "256m",
      "--cpus",
      "1",
    ];
    const { exitCode, stderr } = await runCli(["run", ...AGENT, ...SANDBOX, ...flags, ...REST], { cwd });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(git(cwd, "show", "agent/hello:hello.txt")).toBe("hello 1000");
  });

  it("says what is wrong with the cluster, and how it ends", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli(
      ["run", ...AGENT, ...SANDBOX, "--namespace", "nowhere", ...REST],
      { cwd },
    );
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/no namespace nowhere/);
  });

  it.each([
    [["--network", "none"], /--network does not apply to kubernetes/],
    [["--user", "agent"], /--user: kubernetes supports only the number/],
  ])("refuses %j", async (flags, says) => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli(["run", ...AGENT, ...SANDBOX, ...flags, ...REST], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(says);
  });

  it("is what doctor looks at when it is chosen", async () => {
    const cwd = temporaryRepository();
    const { stdout } = await runCli(["doctor", "--sandbox", "kubernetes"], { cwd });
    expect(stdout).toMatch(/✓ kubernetes/);
  });
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processIsAlive } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import { environment, folder, ownServer } from "./environmentFolders.ts";

const check = (cwd: string, directory: string) => runCli(["environment", "check", directory], { cwd });

describe("sanddune environment check", () => {
  it("lists the tests, and runs none", async () => {
    const directory = environment(`{
      tests: {
        writes: { description: "Leaves a trace.", run: ({ worktree }) => writeFileSync(worktree + "/trace", "") },
        greets: { parameters: { name: { type: "string" }, loud: { type: "boolean", default: false } }, run: () => {} },
      },
    }`);
    const cwd = temporaryDirectory();
    const { exitCode, stdout } = await check(cwd, directory);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^TEST +PARAMETERS +DESCRIPTION$/m);
    expect(stdout).toMatch(/^writes +- +Leaves a trace\.$/m);
    expect(stdout).toMatch(/^greets +name=<string> loud=false +-$/m);
    expect(stdout).toContain(`${directory} is ready.`);
    expect(existsSync(join(cwd, "trace"))).toBe(false);
  });

  it("starts a server of the environment's, and ends it", async () => {
    const directory = ownServer("echo $$ > $SANDDUNE_WORKTREE/pid; exec node server.mjs");
    const cwd = temporaryDirectory();
    const { exitCode, stdout } = await check(cwd, directory);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^b +- +-$/m);
    expect(processIsAlive(Number(readFileSync(join(cwd, "pid"), "utf8")))).toBe(false);
  });

  it.each<[string, () => string, string[]]>([
    ["is not there", () => "/nowhere", ["/nowhere", "no such"]],
    [
      "has an unknown field",
      () => folder({ "environment.json": '{"start": "x", "prot": 1}' }),
      ["environment.json", "prot"],
    ],
    [
      "throws",
      () => folder({ "environment.mjs": "throw new Error('no way')" }),
      ["environment.mjs", "no way"],
    ],
    [
      "cannot be set up",
      () => environment("{ tests: { a: () => {} } }", { "setup.sh": "echo why; exit 3" }),
      ["why"],
    ],
    ["has a server that ends", () => ownServer("echo why >&2; exit 3"), ["why"]],
    ["has a server that says nothing", () => ownServer("sleep 1000", { startTimeoutMs: 300 }), ["300"]],
  ])("ends with 2 for an environment that %s, and says where and why", async (_, make, said) => {
    const { exitCode, stdout, stderr } = await check(temporaryDirectory(), make());
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    for (const words of said) expect(stderr).toContain(words);
  });
});

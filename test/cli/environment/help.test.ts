import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched } from "../fixtures.ts";

const SECRET = "tok+Zx/81=mQv9pLw4-of-the-test";
const COMMIT = "git add . && git commit --quiet -m Report";
const base = (agent: string): string[] => [
  "run",
  ...["--agent-command", agent, "--sandbox", "bubblewrap", "--prompt", "Work", "--branch", "agent/work"],
];

describeWith(["bubblewrap"], "sanddune run --env", () => {
  it("lets the named variables into the sandbox, and no others", async () => {
    const cwd = temporaryRepository();
    const report = `printf '%s|' "$MY_KEY" "$OTHER" "\${THIRD-unset}" > seen.txt; ${COMMIT}`;
    const { exitCode } = await runCli([...base(report), "--env", "MY_KEY", "--env", "OTHER"], {
      cwd,
      env: { MY_KEY: SECRET, OTHER: "other value", THIRD: "third" },
    });
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "agent/work:seen.txt")).toBe(`${SECRET}|other value|unset|`);
  });

  it("takes the value of .sanddune/.env before that of the environment", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "MY_KEY=from the file\n");
    await runCli([...base(`echo "$MY_KEY" > seen.txt; ${COMMIT}`), "--env", "MY_KEY"], {
      cwd,
      env: { MY_KEY: SECRET },
    });
    expect(git(cwd, "show", "agent/work:seen.txt")).toBe("from the file");
  });

  it.each([
    ["as it is", []],
    ["with --logging stdout --verbose", ["--logging", "stdout", "--verbose"]],
    ["with --json", ["--json"]],
  ])("prints no value of the agent that says it and fails, %s", async (_, flags) => {
    const cwd = temporaryRepository();
    const agent = 'echo "key $MY_KEY"; printf %s "$MY_KEY" | base64; echo "bad key $MY_KEY" >&2; exit 3';
    const { exitCode, stdout, stderr } = await runCli([...base(agent), "--env", "MY_KEY", ...flags], {
      cwd,
      env: { MY_KEY: SECRET },
    });
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain("[redacted MY_KEY]");
    for (const form of [SECRET, Buffer.from(SECRET).toString("base64").slice(0, -4)]) {
      expect(stdout + stderr).not.toContain(form);
    }
  });
});

it.each([
  ["NAME=VALUE", `MY_KEY=${SECRET}`, "MY_KEY"],
  ["a value with = in it", `MY_KEY=a=${SECRET}`, "MY_KEY"],
  ["an empty value", "MY_KEY=", "MY_KEY"],
  ["no name", `=${SECRET}`, "--env"],
])("--env with %s ends with exit code 2, without the value", async (_, argument, named) => {
  const cwd = temporaryRepository();
  for (const json of [[], ["--json"]]) {
    const { exitCode, stdout, stderr } = await runCli([...base("true"), "--env", argument, ...json], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(named);
    expect(stdout + stderr).not.toContain(SECRET);
  }
  expectUntouched(cwd);
});

it.each(["1A", "A-B", "", "SANDDUNE_EXEC_ID"])(
  "--env with the name %j ends with exit code 2",
  async (name) => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli([...base("true"), "--env", name], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: --env: /m);
    expectUntouched(cwd);
  },
);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched, OBEDIENT_AGENT, repositoryWithAgent } from "../fixtures.ts";

const RUN = ["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--branch", "b"];

const promptFile = (template: string): string => {
  const path = join(temporaryDirectory(), "prompt.md");
  writeFileSync(path, template);
  return path;
};

describeWith(["bubblewrap"], "sanddune run --prompt-arg", () => {
  it("fills in the template; in a value nothing is interpreted", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const file = promptFile("{{TASK}} on {{SOURCE_BRANCH}}: {{NOTE}}");
    const values = ["--prompt-arg", "TASK=Fix a=b", "--prompt-arg", "NOTE=!`id` {{TASK}}"];
    const { exitCode } = await runCli([...RUN, "--prompt-file", file, ...values], { cwd });
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "b:prompt.txt")).toBe("Fix a=b on b: !`id` {{TASK}}");
  });

  it("--name stands before every line of the run", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const flags = ["--prompt", "Fix it", "--name", "planner", "--logging", "stdout"];
    const { stdout } = await runCli([...RUN, ...flags], { cwd });
    // The commands to type next, which are there to be copied, are none of the run's.
    const lines = stdout
      .replace(/^ {2}Next (.|\n)*/m, "")
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => !line.startsWith("[planner] "))).toEqual([]);
  });
});

interface Mistake {
  readonly name: string;
  readonly template: string;
  readonly flags: readonly string[];
  readonly says: string;
}

const testMistakes = (mistakes: readonly Mistake[]): void => {
  it.each(mistakes)("with $name ends with exit code 2", async ({ template, flags, says }) => {
    const cwd = temporaryRepository();
    const args = [...RUN, "--prompt-file", promptFile(template), ...flags];
    const { exitCode, stderr } = await runCli(args, { cwd });
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
    expectUntouched(cwd);
  });
};

// The run itself finds these out, once it has seen that there is such a sandbox.
describeWith(["bubblewrap"], "--prompt-arg", () =>
  testMistakes([
    {
      name: "a placeholder that has no value",
      template: "{{TASK}} and {{NOTE}}",
      flags: ["--prompt-arg", "TASK=x"],
      says: "placeholders without a value: pass --prompt-arg NOTE=…",
    },
    {
      name: "a value for what is built in",
      template: "{{SOURCE_BRANCH}}",
      flags: ["--prompt-arg", "SOURCE_BRANCH=x"],
      says: "--prompt-arg: ",
    },
  ]),
);

describe("--prompt-arg", () =>
  testMistakes([
    {
      name: "a value without a name",
      template: "{{TASK}}",
      flags: ["--prompt-arg", "=x"],
      says: '--prompt-arg "=x": write KEY=VALUE',
    },
    {
      name: "a name without a value",
      template: "{{TASK}}",
      flags: ["--prompt-arg", "TASK"],
      says: '--prompt-arg "TASK": write KEY=VALUE',
    },
  ]));

it("--prompt-arg without a template ends with exit code 2", async () => {
  const cwd = temporaryRepository();
  const { exitCode, stderr } = await runCli([...RUN, "--prompt", "{{A}}", "--prompt-arg", "A=x"], { cwd });
  expect(stderr).toContain("it needs --prompt-file FILE");
  expect(exitCode).toBe(2);
  expectUntouched(cwd);
});

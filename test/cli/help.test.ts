import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { runCli } from "./callCli.ts";

const helpOf = async (words: readonly string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await runCli([...words, "--help"], { cwd: temporaryDirectory() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
};

/** The commands that a help lists: in all its groups of them, whose names the examples do not have. */
const commandsIn = (help: string): string[] => {
  const [listed = ""] = help.split(/^Examples:$/m);
  return [...listed.matchAll(/^ {2}([a-z][a-z-]*)(?: |$)/gm)].flatMap(([, name]) =>
    name === undefined || name === "help" ? [] : [name],
  );
};

/** Every command that can be found by reading helps, with its help. */
const allHelps = async (words: readonly string[] = []): Promise<(readonly [string, string])[]> => {
  const help = await helpOf(words);
  const hasCommands = /\[command\]/.test(help.split("\n")[0] ?? "");
  const below = hasCommands
    ? await Promise.all(commandsIn(help).map((name) => allHelps([...words, name])))
    : [];
  return [[["sanddune", ...words].join(" "), help], ...below.flat()];
};

describe("the help", () => {
  it("of every command says how to call it, has examples of it, and fits 80 columns", async () => {
    const helps = await allHelps();
    const names = helps.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(["sanddune", "sanddune run", "sanddune completions"]));
    for (const [name, help] of helps) {
      expect(help).toMatch(new RegExp(`^Usage: ${name}`));
      expect(help).toMatch(/^Examples:$/m);
      expect(help, name).toMatch(new RegExp(`^ {4}\\$ .*${name === "sanddune" ? name : `${name}\\b`}`, "m"));
      expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it("is printed by the command help as well", async () => {
    const cwd = temporaryDirectory();
    expect((await runCli(["help"], { cwd })).stdout).toBe(await helpOf([]));
    expect((await runCli(["help", "run"], { cwd })).stdout).toBe(await helpOf(["run"]));
  });

  it("does not show the command that the completions ask", async () => {
    expect(commandsIn(await helpOf([]))).not.toContain("complete");
  });
});

it.each([
  [["rnu"], "Did you mean run?", "sanddune --help"],
  [["help", "rnu"], "Did you mean run?", "sanddune --help"],
  [["env", "run"], "Did you mean environment?", "sanddune --help"],
  [["scenario", "rep"], "Did you mean report?", "sanddune scenario --help"],
  [["help", "foo"], "unknown command 'foo'", "sanddune --help"],
  [["run", "--promt", "x"], "Did you mean --prompt?", "sanddune run --help"],
  [["docker", "bild-image"], "Did you mean build-image?", "sanddune docker --help"],
  [["podman", "build-image", "--verbos"], "--verbose?", "sanddune podman build-image --help"],
  [["run", "--branch", "docker", "--promt", "x"], "--prompt?", "sanddune run --help"],
  [["completions", "bsh"], "bash, zsh, fish", "sanddune completions --help"],
  [["completions"], "'shell'", "sanddune completions --help"],
])("the error for %j proposes what is near, and names the help", async (args, nearest, help) => {
  const { exitCode, stdout, stderr } = await runCli(args, { cwd: temporaryDirectory() });
  expect(stderr).toContain(nearest);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`^See: .*${help}$`));
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
});

it("every command that answers in JSON reports its errors in JSON", async () => {
  const answering = (await allHelps()).filter(([, help]) => /^ {2}--json /m.test(help));
  const names = answering.map(([name]) => name);
  expect(names).toContain("sanddune docker build-image");
  for (const name of names) {
    const args = [...name.split(" ").slice(1), "--nonsense", "--json"];
    const { exitCode, stdout } = await runCli(args, { cwd: temporaryDirectory() });
    const message = expect.stringMatching(`See: .*${name} --help`);
    expect(JSON.parse(stdout)).toEqual({ error: { name: "UsageError", message } });
    expect(exitCode).toBe(2);
  }
});

import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { command } from "../../../src/agents/command/provider.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";

const HOSTILE = [
  "two words",
  'it\'s "quoted"',
  "$(touch canary) `id` $HOME",
  "a; b | c > d & e",
  "line one\nline two\n",
  "--help",
  "-n",
  "",
  "!history *glob* ~",
  "ünïcödé 🏜",
];

/** What a shell makes of a command line that ends with a program which prints each of its arguments, NUL after each. */
const argumentsOf = (line: readonly string[] | string | undefined): string[] =>
  execFileSync("sh", ["-c", String(line)], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

const PRINT_ARGUMENTS = `sh -c 'printf "%s\\0" "$@"' sh fixed`;

describe("the command line of any program, as an agent", () => {
  it("gets the prompt on its standard input, and never on its command line", () => {
    expect(command("sh ./agent.sh").buildCommand({ prompt: "Do it", iteration: 1 })).toEqual({
      command: "sh ./agent.sh",
      stdin: "Do it",
    });
  });

  it("has no terminal interface unless the options name one", () => {
    expect(command("agent")).not.toHaveProperty("interactiveCommand");
  });

  it.each(HOSTILE)("gets the prompt %j as one argument of its terminal interface, exactly", (prompt) => {
    const agent = command("agent", { interactive: PRINT_ARGUMENTS });
    const line = agent.interactiveCommand?.({ prompt, dangerouslySkipPermissions: true, cwd: "/" });
    expect(argumentsOf(line?.command)).toEqual(["fixed", prompt]);
  });

  it("gets no argument when there is no prompt", () => {
    const agent = command("agent", { interactive: PRINT_ARGUMENTS });
    const line = agent.interactiveCommand?.({
      prompt: undefined,
      dangerouslySkipPermissions: false,
      cwd: "/",
    });
    expect(argumentsOf(line?.command)).toEqual(["fixed"]);
  });

  it("is the same with and without permissions: only the caller knows what it asks", () => {
    const agent = command("agent", { interactive: "agent --tui" });
    const lines = [true, false].map((dangerouslySkipPermissions) =>
      agent.interactiveCommand?.({ prompt: "a b", dangerouslySkipPermissions, cwd: "/" }),
    );
    expect(lines).toEqual(Array(2).fill({ command: "agent --tui 'a b'" }));
  });

  it.each<[string, unknown, object | undefined, string]>([
    ["an empty command line", "", undefined, "commandLine"],
    ["blanks", "  ", undefined, "commandLine"],
    ["a list", ["sh"], undefined, "commandLine"],
    ["nothing", undefined, undefined, "commandLine"],
    ["an empty terminal interface", "agent", { interactive: " " }, "interactive"],
    ["a terminal interface that is no text", "agent", { interactive: true }, "interactive"],
  ])("cannot be %s, and the error names the option", (_, line, options, option) => {
    const make = () => command(line as string, options as Parameters<typeof command>[1]);
    expect(make).toThrow(InvalidOptionsError);
    expect(make).toThrow(expect.objectContaining({ option }));
  });
});

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sandboxNames } from "../../../src/cli/run/chosenSandbox.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";

/** Starts each shell without anybody's settings, and has it read the script. */
const SHELLS = {
  bash: {
    start: "PS1='> ' exec bash --norc --noprofile -i",
    load: "source <(sanddune completions bash)",
  },
  zsh: {
    start: "PS1='> ' exec zsh -f -i",
    load: "autoload -U compinit; compinit -u -D; source <(sanddune completions zsh)",
  },
  fish: {
    // What it proposes by itself, from earlier lines, could be taken for what the tab key has done.
    start:
      "exec fish --no-config --init-command 'function fish_prompt; echo -n \"> \"; end; set -g fish_autosuggestion_enabled 0'",
    load: "sanddune completions fish | source",
  },
} as const;

/** A directory with the built command line in it, under its name. */
const programDirectory = (): string => {
  const directory = temporaryDirectory();
  symlinkSync(builtCli(), join(directory, "sanddune"));
  return directory;
};

const open = async (shell: keyof typeof SHELLS, cwd: string): Promise<Terminal> => {
  const { start, load } = SHELLS[shell];
  const home = temporaryDirectory();
  const env = { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_RUNTIME_DIR: home };
  // Not in `env`: tmux has a PATH of its own.
  const command = `PATH=${programDirectory()}:$PATH; ${start}`;
  const terminal = startTerminal(command, { cwd, env, columns: 120, rows: 40 });
  await terminal.shows(/^>/m);
  terminal.type(`${load} && echo load''ed`);
  terminal.press("Enter");
  await terminal.shows(/^loaded$/m);
  return terminal;
};

/** What stands after the last prompt. */
const lineOf = (screen: string): string => {
  const prompts = screen.split("\n").filter((line) => /^>( |$)/.test(line));
  return prompts.at(-1)?.slice(2) ?? "";
};

/** What is typed before the tab key, and what stands there then. */
const CASES = [
  ["sanddune comp", "sanddune completions"],
  ["sanddune run --merge", "sanddune run --merge-to-head"],
  ["sanddune run --sandbox=bub", "sanddune run --sandbox=bubblewrap"],
  ["sanddune run --prompt 'Fix it' --logging f", "sanddune run --prompt 'Fix it' --logging file"],
  ["sanddune run --prompt-file prompts/ta", "sanddune run --prompt-file prompts/task.md"],
  ["sanddune run --prompt-file=prompts/ta", "sanddune run --prompt-file=prompts/task.md"],
  // And not the file that begins like it.
  ["sanddune run --cwd pro", "sanddune run --cwd prompts/"],
] as const;

for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[]) {
  describeWith([shell, "tmux"], `the tab key in ${shell}`, () => {
    it("completes commands, flags, values, files and directories", async () => {
      const cwd = temporaryDirectory();
      mkdirSync(join(cwd, "prompts"));
      writeFileSync(join(cwd, "prompts/task.md"), "");
      writeFileSync(join(cwd, "program.md"), "");
      const terminal = await open(shell, cwd);
      for (const [typed, becomes] of CASES) {
        terminal.type(typed);
        terminal.press("Tab");
        await terminal
          .until((screen) => lineOf(screen).startsWith(becomes))
          .catch((error: Error) => {
            throw new Error(`${typed} does not become ${becomes}`, { cause: error });
          });
        // Deletes the line. Ctrl-C would end the completion if that is still going on, and the line would stay.
        terminal.press("C-u");
        await terminal.until((screen) => lineOf(screen) === "");
      }
    });
  });
}

const complete = async (words: readonly string[], cwd = temporaryDirectory()): Promise<string[]> => {
  const { exitCode, stdout, stderr } = await runCli(["complete", "--", ...words], { cwd });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
};

const valuesOf = (lines: readonly string[]): (string | undefined)[] =>
  lines.map((line) => line.split("\t")[0]);

describe("what could come next", () => {
  it.each([
    { words: ["run", "--sandbox", ""], values: [...sandboxNames] },
    { words: ["run", "--sandbox", "=", "p"], values: ["podman"] },
    {
      words: ["run", "--sandbox="],
      values: sandboxNames.map((name) => `--sandbox=${name}`),
    },
    { words: ["run", "--prompt", "run", "--logging", ""], values: ["file", "stdout"] },
    { words: ["run", "--prompt-file", ""], values: [":files"] },
    { words: ["run", "--cwd", ""], values: [":directories"] },
    { words: ["run", "--prompt", ""], values: [] },
    { words: ["run", "--verbose", "--verb"], values: ["--verbose"] },
    { words: ["run", "--", "--verb"], values: [] },
    { words: ["docker", ""], values: ["build-image", "remove-image"] },
    { words: ["help", "comp"], values: ["completions"] },
    { words: ["nonsense", "--nonsense"], values: [] },
  ])("after $words: $values", async ({ words, values }) => {
    expect(valuesOf(await complete(words))).toEqual(values);
  });

  it("comes with what it is for", async () => {
    expect(await complete(["run", "--merge"])).toEqual([
      "--merge-to-head\tcommit to a temporary branch, then merge it into the current one",
    ]);
  });

  it("outside a repository there are no runs, and no error", async () => {
    expect(await complete(["logs", ""])).toEqual([]);
  });
});

describeWith(["bubblewrap"], "runs that could come next", () => {
  it("are those of the repository, the latest first; only one that is running can be stopped", async () => {
    const cwd = temporaryRepository();
    const ids: string[] = [];
    for (const name of ["first", "second"]) {
      const agent = ["--agent-command", "true", "--sandbox", "bubblewrap", "--branch", name];
      const { stdout } = await runCli(["run", ...agent, "--name", name, "--prompt", "Work", "--json"], {
        cwd,
      });
      ids.push(JSON.parse(stdout).runId);
    }
    const lines = ids.map((id, index) => `${id}\tsucceeded, ${["first, first", "second, second"][index]}`);
    expect(await complete(["logs", ""], cwd)).toEqual(lines.toReversed());
    expect(await complete(["clean", "--run", ids[0] ?? ""], cwd)).toEqual(lines.slice(0, 1));
    expect(await complete(["logs", "--cwd", cwd, ""])).toEqual(lines.toReversed());
    expect(await complete(["stop", ""], cwd)).toEqual([]);
  });
});

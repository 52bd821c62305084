import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { canaries } from "../lasting/lasting.ts";

const SHELLS = {
  bash: {
    start: "PS1='> ' exec bash --norc --noprofile -i",
    load: "source <(sanddune completions bash)",
    tabsToList: 2,
  },
  zsh: {
    start: "PS1='> ' exec zsh -f -i",
    load: "autoload -U compinit; compinit -u -D; source <(sanddune completions zsh)",
    tabsToList: 1,
  },
  fish: {
    start: "exec fish --no-config --init-command 'function fish_prompt; echo -n \"> \"; end'",
    load: "sanddune completions fish | source",
    tabsToList: 1,
  },
} as const;

const IDS = ["20000101-000000-aaaaaa", "20000102-000000-bbbbbb"];

/** Runs whose ids, names and branches were chosen by somebody who wants the shell to read them. */
const repositoryWithNames = (fire: string): string => {
  const cwd = temporaryRepository();
  const owner = { pid: 1, startTime: "1", bootId: "another", pidNamespace: "", host: hostname() };
  const names = [
    `$(${fire})`,
    `\`${fire}\``,
    `'; ${fire}; '`,
    `"$(${fire})"`,
    `%{$(${fire})%}`,
    `a:b\\:c:$(${fire})`,
    `\${(e):-$(${fire})}`,
    `\u001b]0;stolen\u0007\u001b[2J\n20000103-000000-cccccc\tinvented`,
  ];
  const runs = [
    ...IDS.map((runId) => ({ runId, name: names.join(" "), branch: names.join(",") })),
    { runId: `$(${fire.replaceAll("/", "\\57")})`, name: "a", branch: "b" },
    { runId: ":files", name: "a", branch: "b" },
  ];
  for (const { runId, name, branch } of runs) {
    const directory = join(cwd, ".sanddune/runs", runId);
    mkdirSync(directory, { recursive: true });
    const begun = {
      type: "begun",
      runId,
      kind: "run",
      owner,
      strategy: "branch",
      sourceBranch: branch,
      name,
    };
    const line = JSON.stringify({ at: "2000-01-01T00:00:00.000Z", ...begun });
    writeFileSync(join(directory, "journal.jsonl"), `${line}\n`);
  }
  return cwd;
};

for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[]) {
  describeWith([shell, "tmux"], `the tab key in ${shell}, among runs with hostile names`, () => {
    it("offers the ids of runs, runs nothing, and leaves the terminal alone", async () => {
      const { fire, fired } = canaries();
      const cwd = repositoryWithNames(fire("name"));
      const programs = temporaryDirectory();
      symlinkSync(builtCli(), join(programs, "sanddune"));
      const home = temporaryDirectory();
      const terminal = startTerminal(`PATH=${programs}:$PATH; ${SHELLS[shell].start}`, {
        ...{ cwd, columns: 200, rows: 50 },
        env: { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_RUNTIME_DIR: home },
      });
      await terminal.shows(/^>/m);
      terminal.type(`${SHELLS[shell].load} && echo load''ed`);
      terminal.press("Enter");
      await terminal.shows(/^loaded$/m);
      terminal.type("sanddune logs 2000010");
      for (let press = 0; press < SHELLS[shell].tabsToList; press++) terminal.press("Tab");
      for (const id of IDS) await terminal.shows(id);
      terminal.type("2");
      terminal.press("Tab");
      await terminal.shows(/> sanddune logs 20000102-000000-bbbbbb/);
      terminal.press("Enter");
      await terminal.shows("has no run log");
      expect(fired()).toEqual([]);
      expect(terminal.title()).not.toContain("stolen");
      expect(terminal.history()).not.toMatch(/^20000103-000000-cccccc/m);
    });
  });
}

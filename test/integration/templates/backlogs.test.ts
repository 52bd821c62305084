import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type Backlog, contents, makeProject } from "./projects.ts";

const WORDS = ["plum", "pear"] as const;

/** Lets the sandbox see the stand-ins of the backlog's programs, and changes nothing else of the main file. */
const showStandIns = (directory: string, made: string, options: string): void => {
  const bin = join(temporaryDirectory(), "bin");
  cpSync(join(import.meta.dirname, "../fixtures/bin"), bin, { recursive: true });
  const main = join(directory, ".sanddune/main.mts");
  const text = readFileSync(main, "utf8");
  expect(text).toContain(made);
  const own = `readOnlyPaths: ["${bin}"], path: "${bin}:/usr/local/bin:/usr/bin:/bin"`;
  writeFileSync(main, text.replaceAll(made, `bubblewrap({ ${options}${own} })`));
};

/** Where GitHub's program gets its answers: on the machine's network. */
const startGitHub = async (issues: readonly { readonly number: number }[]) => {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    createInterface(socket).once("line", (line) => {
      asked.push(line);
      const [, number] = /^issue view (\d+) /.exec(line) ?? [];
      const answer = number === undefined ? issues : issues.find((issue) => issue.number === Number(number));
      socket.end(`${JSON.stringify(answer)}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, asked };
};

const gitHub = (port: number): Backlog => ({
  name: "github-issues",
  prepare: (cwd) => {
    showStandIns(cwd, "bubblewrap({ network: true })", "network: true, ");
    writeFileSync(join(cwd, ".sanddune/.env"), `GH_TOKEN=token-${port}\n`, { mode: 0o600 });
  },
});

const beads = (words: readonly string[]): Backlog => ({
  name: "beads",
  prepare: (cwd) => {
    showStandIns(cwd, "bubblewrap()", "");
    mkdirSync(join(cwd, ".beads"));
    writeFileSync(join(cwd, ".beads/.gitignore"), "/database\n");
    const lines = words.map((word) =>
      JSON.stringify({ id: `bd-${word}`, title: `The word of bd-${word} is ${word}`, status: "open" }),
    );
    writeFileSync(join(cwd, ".beads/issues.jsonl"), `${lines.join("\n")}\n`);
  },
});

/** Every template that has tasks, and with each backlog manager one that plans and one that does not. */
describeWith(["bubblewrap", "node 22", "bash"], "the templates, with a backlog manager", () => {
  it.each([
    ["simple-loop", WORDS],
    ["parallel-planner-with-review", ["plum"]],
  ] as const)("%s: reads GitHub's issues, and closes them by its commits", async (template, words) => {
    const issues = words.map((word, index) => ({
      body: `The word of ${index + 1} is ${word}.`,
      number: index + 1,
      title: `Write ${word}`,
    }));
    const { port, asked } = await startGitHub(issues);
    const { directory, main } = await makeProject(template, gitHub(port));
    expect(await main()).toMatchObject({ exitCode: 0 });
    const closed = git(directory, "log", "--format=%B").match(/^Closes #\d+$/gm);
    expect(closed?.sort()).toEqual(issues.map(({ number }) => `Closes #${number}`));
    for (const [index, word] of words.entries()) {
      expect(contents(directory, `${index + 1}.txt`)).toBe(`${word}\n`);
    }
    expect(asked).toContain("issue list --state open --label sanddune --limit 100 --json number,title,body");
    if (template !== "simple-loop") expect(asked).toContain("issue view 1 --json number,title,body");
    expect(leftovers(directory)).toEqual([]);
  });

  it.each([
    ["sequential-reviewer", ["plum"], "agent/next-task"],
    ["parallel-planner", WORDS, "main"],
  ] as const)(
    "%s: reads the tasks of Beads, and closes them in its commits",
    async (template, words, branch) => {
      const { directory, main } = await makeProject(template, beads(words));
      expect(await main()).toMatchObject({ exitCode: 0 });
      for (const word of words) expect(git(directory, "show", `${branch}:bd-${word}.txt`)).toBe(word);
      const tasks = git(directory, "show", `${branch}:.beads/issues.jsonl`);
      expect(tasks.match(/"status":"closed"/g)).toHaveLength(words.length);
      expect(leftovers(directory)).toEqual([]);
    },
  );
});

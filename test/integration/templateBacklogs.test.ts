import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { contents, makeProject } from "./templateProjects.ts";

const WORDS = ["plum", "pear"] as const;

/** Lets the sandbox see the stand-ins of the backlog's programs, and changes nothing else of the main file. */
const showStandIns = (directory: string, made: string, options: string): void => {
  const bin = join(temporaryDirectory(), "bin");
  cpSync(join(import.meta.dirname, "fixtures/bin"), bin, { recursive: true });
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

describeWith(["bubblewrap", "node 22", "bash"], "the templates, with a backlog manager", () => {
  it("parallel-planner: reads GitHub's issues, and closes them by its commits", async () => {
    const issues = WORDS.map((word, index) => ({
      body: `The word of ${index + 1} is ${word}.`,
      number: index + 1,
      title: `Write ${word}`,
    }));
    const { port, asked } = await startGitHub(issues);
    const { directory, main } = await makeProject("parallel-planner", {
      name: "github-issues",
      prepare: (cwd) => {
        showStandIns(cwd, "bubblewrap({ network: true })", "network: true, ");
        writeFileSync(join(cwd, ".sanddune/.env"), `GH_TOKEN=token-${port}\n`, { mode: 0o600 });
      },
    });
    expect(await main()).toMatchObject({ exitCode: 0 });
    expect([contents(directory, "1.txt"), contents(directory, "2.txt")]).toEqual(["plum\n", "pear\n"]);
    for (const { number } of issues) {
      expect(git(directory, "log", "--format=%B")).toMatch(new RegExp(`^Closes #${number}$`, "m"));
    }
    expect(asked).toContain("issue list --state open --label sanddune --limit 100 --json number,title,body");
    expect(asked).toContain("issue view 2 --json number,title,body");
    expect(leftovers(directory)).toEqual([]);
  });

  it("simple-loop: reads the tasks of Beads, and closes them in its commits", async () => {
    const { directory, main } = await makeProject("simple-loop", {
      name: "beads",
      prepare: (cwd) => {
        showStandIns(cwd, "bubblewrap()", "");
        mkdirSync(join(cwd, ".beads"));
        writeFileSync(join(cwd, ".beads/.gitignore"), "/database\n");
        const lines = WORDS.map((word) =>
          JSON.stringify({ id: `bd-${word}`, title: `The word of bd-${word} is ${word}`, status: "open" }),
        );
        writeFileSync(join(cwd, ".beads/issues.jsonl"), `${lines.join("\n")}\n`);
      },
    });
    expect(await main()).toMatchObject({ exitCode: 0 });
    for (const word of WORDS) expect(contents(directory, `bd-${word}.txt`)).toBe(`${word}\n`);
    const closed = contents(directory, ".beads/issues.jsonl").match(/"status":"closed"/g);
    expect(closed).toHaveLength(WORDS.length);
    expect(leftovers(directory)).toEqual([]);
  });
});

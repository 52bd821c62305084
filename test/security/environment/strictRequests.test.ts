import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { environmentFolder } from "../../helpers/environments.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { play, shell } from "../support.ts";

const RUNS_THE_WORK = `import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment({
  tests: {
    work: async ({ run }) => {
      const { exitCode, stdout } = await run("sh ./work.sh");
      if (exitCode !== 0) throw new Error(stdout);
    },
  },
});
`;

const ASK = shell(
  `curl --silent --unix-socket "$SANDDUNE_TESTS_SOCKET" --request POST --header "Authorization: Bearer $SANDDUNE_TESTS_TOKEN" http://localhost/run`,
);

describeWith(["bubblewrap"], "code of the agent that strict tests run at its request", () => {
  it("does not lead the host's copies elsewhere by links that it leaves for later requests", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { ".gitignore": "/vendor/\n" });
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Ignore");
    writeFiles(cwd, { "vendor/library.txt": "the user's\n" });
    const elsewhere = temporaryDirectory();
    git(elsewhere, "init", "--quiet");
    const answers: string[] = [];
    const work = `test -e vendor/library.txt || exit 1
for number in $(seq 200); do ln -s ${elsewhere} ../tree-$number 2>/dev/null || :; done
`;
    await play(cwd, [{ commit: "Work", files: { "work.sh": work } }, ASK, ASK], {
      branchStrategy: { type: "branch", branch: "agent/work" },
      copyToWorktree: ["vendor"],
      environment: { path: environmentFolder({ "environment.mjs": RUNS_THE_WORK }), isolation: "strict" },
      logging: {
        type: "file",
        onAgentStreamEvent: (event) => {
          if (event.type === "toolResult") answers.push(event.output);
        },
      },
    });
    expect(readdirSync(elsewhere)).toEqual([".git"]);
    expect(JSON.parse(answers[0] ?? "")).toMatchObject({ passed: 1, error: null });
    expect(answers[1]).toMatch(/vendor.*is in the way/);
  });
});

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { readHostState } from "../../../src/git/hostState.ts";
import { mergeToHead } from "../../../src/git/merge/mergeToHead.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const numbers = Array.from({ length: 50 }, (_, number) => number);

/** Makes branches that start where main is, with a commit each, and tells these. */
const makeBranches = (cwd: string): string[] => {
  const commands = numbers.map(
    (number) => `commit refs/heads/work-${number}
committer Dev <dev@example.com> 1700000000 +0000
data <<END
Work ${number}
END
from refs/heads/main^0
M 100644 inline file-${number}.txt
data <<END
${number}
END
`,
  );
  execFileSync("git", ["fast-import", "--quiet"], { cwd, input: commands.join("\n") });
  return git(cwd, "rev-parse", ...numbers.map((number) => `work-${number}`)).split("\n");
};

it("50 branches that are merged into one at once all arrive there, each once, and in its checkout", {
  timeout: 240_000,
}, async () => {
  const cwd = temporaryRepository();
  const tips = makeBranches(cwd);
  const repository = await Effect.runPromise(openRepository(cwd));
  const { config } = await Effect.runPromise(readHostState(repository));
  await Promise.all(
    tips.map((sourceTip, number) =>
      Effect.runPromise(
        mergeToHead({
          repository,
          runId: `run-${number}`,
          sourceBranch: `work-${number}`,
          sourceTip,
          targetBranch: "main",
          hostConfig: config,
          onWarning: () => {},
        }),
      ),
    ),
  );
  const merged = git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n");
  expect(merged.sort()).toEqual(["Initial commit", ...numbers.map((number) => `Work ${number}`)].sort());
  const files = readdirSync(cwd).filter((name) => name.startsWith("file-"));
  expect(files).toHaveLength(numbers.length);
  expect(git(cwd, "status", "--porcelain")).toBe("");
  expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
});

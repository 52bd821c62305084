/** Makes several runs at once in one repository, as a process of its own: argv is the repository, a prefix and a count. */
import { run, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";

const [cwd = "", prefix = "", count = ""] = process.argv.slice(2);
const results = await Promise.all(
  Array.from({ length: Number(count) }, (_, number) => {
    const branch = `${prefix}/${number}`;
    return run({
      agent: scripted([{ commit: branch, files: { [`${prefix}-${number}.txt`]: `${branch}\n` } }]),
      sandbox: bubblewrap(),
      branchStrategy: { type: "branch", branch },
      prompt: "Work",
      cwd,
    }).then(
      ({ commits }) => ({ branch, commits: commits.map(({ sha }) => sha) }),
      (error: Error) => ({ branch, problem: String(error) }),
    );
  }),
);
console.log(JSON.stringify(results));

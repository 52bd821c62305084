/**
 * A run whose agent prints much, in a process of its own, whose memory is not that of other tests. Argv: a repository, and how
 * many mebibytes. Says as JSON what was kept, and by how many mebibytes the memory in use has grown.
 */
import { command, type RunResult, run } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { liveGrowth } from "../../helpers/processes/liveMemory.ts";

const [, , cwd = "", mebibytes] = process.argv;
const line = `${"flood ".repeat(40)}`;
const agent = command(`yes '${line}' | head -c ${Number(mebibytes) * 1024 * 1024}; echo; echo the-end`);
let result: RunResult | undefined;
const growth = await liveGrowth(async () => {
  result = await run({
    agent,
    sandbox: testIsolated(),
    prompt: "x",
    cwd,
    branchStrategy: { type: "branch", branch: "agent/work" },
    logging: { type: "file", quiet: true },
  });
});
console.log(JSON.stringify({ growth, stdout: result?.stdout }));

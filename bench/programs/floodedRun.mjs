// A run() whose agent prints so many megabytes of lines; says, as JSON, how long it took and what memory it needed.
import { command, run } from "../../dist/index.js";
import { bubblewrap } from "../../dist/sandboxes/bubblewrap.js";
import { testIsolated } from "../../dist/sandboxes/test-isolated.js";
import { bubblewrapProblem } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { floodCommand } from "./floodCommand.mjs";

const [megabytes, line] = process.argv.slice(2);

const result = await withScratchDirectory(async (directory) => {
  const cwd = await makeRepository(directory, 1);
  const sandbox = bubblewrapProblem() === undefined ? bubblewrap() : testIsolated();
  const flood = (branch, size) =>
    run({
      agent: command(floodCommand(size, line)),
      sandbox,
      cwd,
      branchStrategy: { type: "branch", branch },
      prompt: "Flood",
      // All of it is searched for secrets.
      env: {
        API_KEY: "q7wpZk2mVt9xLr4sNc8yBd1f",
        DATABASE_URL: "postgres://app:gh3k9sPq@localhost:5432/app",
      },
    });
  // The first run loads the engine, whose memory has nothing to do with the output.
  await flood("first", 1);
  const rssBefore = process.memoryUsage.rss();
  const startedAt = performance.now();
  const { stdout } = await flood("flood", megabytes);
  const durationMs = performance.now() - startedAt;
  if (!stdout.endsWith("flooded\n")) throw new Error("the end of the agent's output is missing");
  // The operating system's own high-water mark: no sample can miss the peak.
  const peak = process.resourceUsage().maxRSS * 1024;
  return { durationMs, growthMb: (peak - rssBefore) / 1e6 };
});
console.log(JSON.stringify(result));

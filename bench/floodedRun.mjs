// A run() whose agent prints so many megabytes of lines; says, as JSON, how long it took and what memory it needed.
import { command, run } from "../dist/index.js";
import { bubblewrap } from "../dist/sandboxes/bubblewrap.js";
import { testIsolated } from "../dist/sandboxes/test-isolated.js";
import { bubblewrapProblem } from "./runtimes.mjs";
import { makeRepository, withScratchDirectory } from "./scratch.mjs";

const LINE = "The quick brown fox jumps over the lazy dog, then does it all over again, without end.";
const [megabytes, line = LINE] = process.argv.slice(2);

const result = await withScratchDirectory(async (directory) => {
  const cwd = makeRepository(directory, 1);
  const sandbox = bubblewrapProblem() === undefined ? bubblewrap() : testIsolated();
  const rssBefore = process.memoryUsage.rss();
  const startedAt = performance.now();
  const { stdout } = await run({
    agent: command(`yes '${line}' | head -c ${megabytes}000000; echo; echo flooded`),
    sandbox,
    cwd,
    branchStrategy: { type: "branch", branch: "flood" },
    prompt: "Flood",
    // All of it is searched for secrets.
    env: { API_KEY: "q7wpZk2mVt9xLr4sNc8yBd1f", DATABASE_URL: "postgres://app:gh3k9sPq@localhost:5432/app" },
  });
  const durationMs = performance.now() - startedAt;
  if (!stdout.endsWith("flooded\n")) throw new Error("the end of the agent's output is missing");
  // The operating system's own high-water mark: no sample can miss the peak.
  const peak = process.resourceUsage().maxRSS * 1024;
  return { durationMs, growthMb: (peak - rssBefore) / 1e6 };
});
console.log(JSON.stringify(result));

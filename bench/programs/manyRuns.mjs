// So many calls of run() at once; says, as JSON, how long they took and what memory they needed.
import { AGENT } from "../contestants/agent.mjs";
import { ownSession } from "../contestants/own.mjs";
import { atOnce, timed } from "../machine/measure.mjs";

const { kind, repository, count, name } = JSON.parse(process.argv[2]);
const session = (suffix) =>
  ownSession({ kind, repository, strategy: "branch", agent: AGENT, name: `${name}/${suffix}` });

const rssBefore = process.memoryUsage.rss();
await session("warm-up");
const durationMs = await timed(() => atOnce(count, session));
// The operating system's own high-water mark: no sample can miss the peak.
const growthMb = (process.resourceUsage().maxRSS * 1024 - rssBefore) / 1e6;
console.log(JSON.stringify({ durationMs, growthMb }));

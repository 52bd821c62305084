// Many sessions at once.
import { fileURLToPath } from "node:url";
import { AGENT } from "../contestants/agent.mjs";
import { contestantsOf } from "../contestants/contestants.mjs";
import { rawSession } from "../contestants/raw.mjs";
import { command } from "../machine/command.mjs";
import { atOnce, median, takeTurns, timed } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostTimes, countRow, timeRow } from "../report/row.mjs";

const FILES = 20;
const CONTAINERS = 8;
const MAX_CONTAINERS_RATIO = 1.25;
const BUBBLES = 32;
const MAX_BUBBLE_MB = 25;

const sessionOptions = (kind, repository, name) => ({
  kind,
  repository,
  strategy: "branch",
  agent: AGENT,
  name,
});

const measureDocker = ({ peer, rounds }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    const contestantFor = (session) => ({
      perform: (round) =>
        atOnce(CONTAINERS, (number) => session(sessionOptions("docker", repository, `${round}/${number}`))),
    });
    const samples = await takeTurns(contestantsOf(peer, "docker", contestantFor), rounds(5));
    return {
      rows: [
        timeRow({
          ...{ id: "at-once-docker/total", name: `docker, ${CONTAINERS} runs at once`, samples },
          target: atMostTimes(MAX_CONTAINERS_RATIO),
        }),
      ],
    };
  });

const manyRuns = fileURLToPath(new URL("../programs/manyRuns.mjs", import.meta.url));

/** In a process of its own: memory is only measured well where nothing else has been. */
const inProcess = async (options) =>
  JSON.parse(await command(process.execPath, manyRuns, JSON.stringify({ kind: "bubblewrap", ...options })));

const measureBubblewrap = ({ rounds }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    const samples = { raw: [], one: [], many: [], memory: [] };
    for (let round = 0; round < rounds(3); round++) {
      const raw = (number) => rawSession(sessionOptions("bubblewrap", repository, `${round}/${number}`));
      samples.raw.push((await timed(() => atOnce(BUBBLES, raw))) / BUBBLES);
      const one = await inProcess({ repository, count: 1, name: `one/${round}` });
      const many = await inProcess({ repository, count: BUBBLES, name: `many/${round}` });
      samples.one.push(one.durationMs);
      samples.many.push(many.durationMs / BUBBLES);
      samples.memory.push(many.growthMb / BUBBLES);
    }
    const name = `bubblewrap, ${BUBBLES} runs at once`;
    return {
      rows: [
        timeRow({
          ...{ id: "at-once-bubblewrap/linear", name: `${name}, time of each`, against: "one run()" },
          samples: { raw: samples.one, own: samples.many },
          target: atMostTimes(1, ": linear"),
        }),
        timeRow({
          ...{ id: "at-once-bubblewrap/total", name: `${name}, against raw ones` },
          samples: { raw: samples.raw, own: samples.many },
        }),
        countRow({
          ...{
            id: "at-once-bubblewrap/memory",
            name: `${name}, memory of each`,
            own: median(samples.memory),
          },
          ...{ unit: " MB", digits: 1, limit: MAX_BUBBLE_MB, noise: 1 },
        }),
      ],
    };
  });

export const atOnceBenchmarks = [
  { name: "at-once-docker", problem: PROBLEMS.docker, measure: measureDocker },
  { name: "at-once-bubblewrap", problem: PROBLEMS.bubblewrap, measure: measureBubblewrap },
];

// run() against the bare minimum, in a small repository and in a large one.
import { bubblewrapContest } from "./bubblewrap.mjs";
import { dockerContest } from "./docker.mjs";
import { makeRepository, withScratchDirectory } from "./scratch.mjs";
import { compareSessions } from "./session.mjs";

const SMALL = 10;
const LARGE = 20_000;

const milliseconds = (value) => `${Math.round(value)} ms`;

const rowOf = (name, { rawMs, ownMs, samples }, figure, target) => ({
  name,
  raw: milliseconds(rawMs),
  own: milliseconds(ownMs),
  figure: figure.text,
  target: target.text,
  isMet: figure.value <= target.limit,
  samples,
});

const ratioOf = ({ rawMs, ownMs }) => ownMs / rawMs;

const measure = async (contest, directory) => {
  const { sandbox, runInSandbox } = contest;
  const compareIn = (fileCount) =>
    compareSessions({ repository: makeRepository(directory, fileCount), sandbox: sandbox(), runInSandbox });
  const small = await compareIn(SMALL);
  const large = await compareIn(LARGE);
  const largeFigure = { value: ratioOf(large), text: `${ratioOf(large).toFixed(2)}x` };
  const largeTarget = { limit: ratioOf(small), text: `at most ${ratioOf(small).toFixed(2)}x, as above` };
  return {
    rows: [
      rowOf(contest.name, small, contest.figure(small), contest.target),
      rowOf(`${contest.name}, ${LARGE.toLocaleString("en")} files`, large, largeFigure, largeTarget),
    ],
    phases: [
      { name: contest.name, ...small },
      { name: `${contest.name}, ${LARGE.toLocaleString("en")} files`, ...large },
    ],
  };
};

const benchmarkOf = (contest) => ({
  name: contest.name,
  problem: contest.problem,
  measure: () => withScratchDirectory((directory) => measure(contest, directory)),
});

export const sessionBenchmarks = [dockerContest, bubblewrapContest].map(benchmarkOf);

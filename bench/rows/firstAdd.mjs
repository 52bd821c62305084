// The agent's first `git status` and `git add -A` in a large repository, against a plain worktree. The agent measures itself.
import { measuredBy, TIMED_AGENT } from "../contestants/agent.mjs";
import { contestantsOf } from "../contestants/contestants.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { sharedRepository } from "../machine/scratch.mjs";
import { atMostTimes, countRow, timeRow } from "../report/row.mjs";

const FILES = 20_000;
/** Whether git reads a plain worktree's files again depends on the second they were written in: few samples have one median or the other. */
const ROUNDS = 9;
const MAX_RATIO = 1.1;

const measure = async (kind, { peer, rounds }) => {
  const name = `add-${kind}`;
  const repository = await sharedRepository(FILES);
  const measured = {};
  const contestantFor = (session, side) => ({
    perform: (round) =>
      session({ kind, repository, strategy: "branch", agent: TIMED_AGENT, name: `${name}/${round}` }),
    after: ({ stdout }) => {
      measured[side] = [...(measured[side] ?? []), measuredBy(stdout)];
    },
  });
  await takeTurns(contestantsOf(peer, kind, contestantFor), rounds(ROUNDS));
  const samplesOf = (figure) =>
    Object.fromEntries(
      Object.entries(measured).map(([side, runs]) => [side, runs.map((run) => run[figure])]),
    );
  // The worst of them: it depends on the second in which files were written, so that most runs may be lucky.
  const counts = (figure) =>
    Object.fromEntries(
      Object.entries(samplesOf(figure)).map(([side, values]) => [side, Math.max(...values)]),
    );
  const title = `${kind}, ${FILES.toLocaleString("en")} files`;
  return {
    rows: [
      timeRow({
        id: `${name}/status`,
        name: `${title}, first \`git status\``,
        samples: samplesOf("statusMs"),
      }),
      countRow({
        ...{ id: `${name}/changes`, name: `${title}, changes that \`git status\` shows at the start` },
        ...counts("changes"),
        limit: 0,
      }),
      timeRow({
        ...{ id: `${name}/add`, name: `${title}, first \`git add -A\``, samples: samplesOf("addMs") },
        target: atMostTimes(MAX_RATIO),
      }),
      countRow({
        ...{ id: `${name}/objects`, name: `${title}, objects that it writes` },
        ...counts("looseObjects"),
        noise: 2,
      }),
    ],
  };
};

export const firstAddBenchmarks = ["docker", "bubblewrap"].map((kind) => ({
  name: `add-${kind}`,
  problem: PROBLEMS[kind],
  measure: (context) => measure(kind, context),
}));

// What tests after an iteration, and recording a run, add to a run.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, scripted } from "../dist/index.js";
import { bubblewrap } from "../dist/sandboxes/bubblewrap.js";
import { median, takeTurns } from "./measure.mjs";
import { bubblewrapProblem } from "./runtimes.mjs";
import { makeRepository, withScratchDirectory } from "./scratch.mjs";

const ROUNDS = 10;
const FILES = 10;
const QUIET = { type: "file", quiet: true };

const ENVIRONMENT = `import { existsSync } from "node:fs";
import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ tests: { works: ({ worktree }) => {
  if (!existsSync(worktree + "/work.txt")) throw new Error("there is no work");
} } });
`;

const agent = scripted([{ shell: "sh agent.sh" }]);

const expectTest = ({ iterations }) => {
  if (iterations[0]?.tests?.passed !== 1) throw new Error("the test has not passed");
};

const expectRecord = ({ trajectoryPath }) => {
  if (trajectoryPath === undefined) throw new Error("the run was not recorded");
};

const makeEnvironment = (directory) => {
  const folder = join(directory, "environment");
  mkdirSync(folder);
  writeFileSync(join(folder, "environment.mjs"), ENVIRONMENT);
  return folder;
};

const rowOf = (name, limitMs, samples) => {
  const [rawMs, ownMs] = [median(samples.raw), median(samples.own)];
  return {
    name,
    raw: `${Math.round(rawMs)} ms (run())`,
    own: `${Math.round(ownMs)} ms`,
    figure: `+${Math.round(ownMs - rawMs)} ms`,
    target: `at most +${limitMs} ms`,
    isMet: ownMs - rawMs <= limitMs,
    samples,
  };
};

const compare = (cwd, kind, options, check) => {
  const perform = (side, more, expect) => (round) =>
    run({
      ...{ agent, sandbox: bubblewrap(), cwd, prompt: "Work", logging: QUIET, ...more },
      branchStrategy: { type: "branch", branch: `${kind}-${side}/${round}` },
    }).then(expect);
  return takeTurns(
    { raw: { perform: perform("raw", {}, () => {}) }, own: { perform: perform("own", options, check) } },
    ROUNDS,
  );
};

export const environmentBenchmark = {
  name: "environment",
  problem: bubblewrapProblem,
  measure: () =>
    withScratchDirectory(async (directory) => {
      const cwd = makeRepository(directory, FILES);
      const environment = makeEnvironment(directory);
      const tested = await compare(cwd, "tested", { environment }, expectTest);
      const recorded = await compare(cwd, "recorded", { trajectory: true }, expectRecord);
      return {
        rows: [
          rowOf("bubblewrap, with an environment", 1000, tested),
          rowOf("bubblewrap, with a trajectory", 300, recorded),
        ],
      };
    }),
};

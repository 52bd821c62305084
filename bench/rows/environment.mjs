// Tests after an iteration, and a recorded trajectory: how much longer a run takes with them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, scripted } from "../../dist/index.js";
import { bubblewrap } from "../../dist/sandboxes/bubblewrap.js";
import { docker } from "../../dist/sandboxes/docker.js";
import { takeTurns } from "../machine/measure.mjs";
import { bubblewrapProblem, dockerProblem, IMAGE } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostAdded, timeRow } from "../report/row.mjs";

const ROUNDS = 10;
const FILES = 10;
const QUIET = { type: "file", quiet: true };

const ENVIRONMENT = `import { existsSync } from "node:fs";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
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

/** The contestants take turns: a run as it is, and with each of the options. */
const compare = (cwd, sandbox, kinds, rounds) => {
  const perform = (name, { options, expect }) => ({
    perform: (round) =>
      run({
        ...{ agent, sandbox, cwd, prompt: "Work", logging: QUIET, ...options },
        branchStrategy: { type: "branch", branch: `${name}/${round}` },
      }).then(expect),
  });
  return takeTurns(
    Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, perform(name, kind)])),
    rounds,
  );
};

/** Docker's image need not have Node.js: it gets the one that runs this. */
const CONTESTS = [
  {
    name: "environment-bubblewrap",
    title: "bubblewrap",
    problem: bubblewrapProblem,
    sandbox: () => bubblewrap(),
    limitsMs: { shared: 250, strict: 350, recorded: 300 },
  },
  {
    name: "environment-docker",
    title: "docker",
    problem: dockerProblem,
    sandbox: () =>
      docker({
        imageName: IMAGE,
        mounts: [{ hostPath: process.execPath, sandboxPath: "/usr/local/bin/node", readOnly: true }],
      }),
    limitsMs: { shared: 450, strict: 700, recorded: 300 },
  },
];

const measure = ({ name, title, sandbox, limitsMs }, { rounds }) =>
  withScratchDirectory(async (directory) => {
    const cwd = await makeRepository(directory, FILES);
    const path = makeEnvironment(directory);
    const tested = (isolation) => ({ options: { environment: { path, isolation } }, expect: expectTest });
    const kinds = {
      plain: { options: {}, expect: () => {} },
      shared: tested("shared"),
      strict: tested("strict"),
      recorded: { options: { trajectory: true }, expect: expectRecord },
    };
    const samples = await compare(cwd, sandbox(), kinds, rounds(ROUNDS));
    const row = (words, kind) =>
      timeRow({
        id: `${name}/${kind}`,
        name: `${title}, ${words}`,
        against: "run()",
        samples: { raw: samples.plain, own: samples[kind] },
        target: atMostAdded(limitsMs[kind]),
      });
    return {
      rows: [
        row("with an environment", "shared"),
        row("with a strict environment", "strict"),
        row("with a trajectory", "recorded"),
      ],
    };
  });

export const environmentBenchmarks = CONTESTS.map((contest) => ({
  name: contest.name,
  problem: contest.problem,
  measure: (context) => measure(contest, context),
}));

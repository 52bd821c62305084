// A run in a sandbox that is there already, against one that makes a sandbox for itself.
import { command as agentCommand, createSandbox, run } from "../dist/index.js";
import { docker } from "../dist/sandboxes/docker.js";
import { median, takeTurns } from "./measure.mjs";
import { dockerProblem, IMAGE } from "./runtimes.mjs";
import { makeRepository, withScratchDirectory } from "./scratch.mjs";

const ROUNDS = 10;
const FILES = 10;
const MAX_RATIO = 0.6;

const agent = agentCommand("sh agent.sh");

const expectCommit = ({ commits }) => {
  if (commits.length !== 1) throw new Error("the run has made no commit");
};

const measureIn = async (cwd, sandbox) => {
  const samples = await takeTurns(
    {
      raw: {
        perform: (round) =>
          run({
            agent,
            sandbox: docker({ imageName: IMAGE }),
            cwd,
            branchStrategy: { type: "branch", branch: `cold/${round}` },
            prompt: "Work",
          }).then(expectCommit),
      },
      own: { perform: () => sandbox.run({ agent, prompt: "Work" }).then(expectCommit) },
    },
    ROUNDS,
  );
  const [rawMs, ownMs] = [median(samples.raw), median(samples.own)];
  return {
    rows: [
      {
        name: "docker, sandbox.run()",
        raw: `${Math.round(rawMs)} ms (run())`,
        own: `${Math.round(ownMs)} ms`,
        figure: `${(ownMs / rawMs).toFixed(2)}x`,
        target: `at most ${MAX_RATIO}x`,
        isMet: ownMs / rawMs <= MAX_RATIO,
        samples,
      },
    ],
  };
};

export const warmBenchmark = {
  name: "warm",
  problem: dockerProblem,
  measure: () =>
    withScratchDirectory(async (directory) => {
      const cwd = makeRepository(directory, FILES);
      const sandbox = await createSandbox({ branch: "warm", sandbox: docker({ imageName: IMAGE }), cwd });
      try {
        return await measureIn(cwd, sandbox);
      } finally {
        await sandbox.close();
      }
    }),
};

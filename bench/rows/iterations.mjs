// Many iterations in one run.
import { AGENT } from "../contestants/agent.mjs";
import { contestantsOf } from "../contestants/contestants.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { fasterThanPeer, timeRow } from "../report/row.mjs";

const FILES = 20;
const ITERATIONS = 10;
const FACTOR = 5;

const measure = ({ peer, rounds }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    const options = { kind: "docker", repository, strategy: "branch", agent: AGENT, iterations: ITERATIONS };
    const contestantFor = (session) => ({
      perform: (round) => session({ ...options, name: `iterations/${round}` }),
    });
    const samples = await takeTurns(contestantsOf(peer, "docker", contestantFor), rounds(5));
    const name = `docker, ${ITERATIONS} iterations`;
    return { rows: [timeRow({ id: "iterations/total", name, samples, target: fasterThanPeer(FACTOR) })] };
  });

export const iterationsBenchmark = { name: "iterations", problem: PROBLEMS.docker, measure };

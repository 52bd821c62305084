// How many processes one session starts.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENT } from "../contestants/agent.mjs";
import { sessionsOf } from "../contestants/contestants.mjs";
import { countInSandboxes, countOnHost, countStarted, traceProcesses } from "../machine/processTree.mjs";
import { PROBLEMS, straceProblem } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { countRow } from "../report/row.mjs";

const FILES = 20;
const MAX_DOCKER = 3;
const MAX_IN_SANDBOX = 8;

const program = fileURLToPath(new URL("../programs/singleSession.mjs", import.meta.url));

const isGit = ({ program: name }) => name === "git" || name.startsWith("git-");
const isDocker = ({ program: name }) => name === "docker";

/** Of the second session in the repository: the first prepares what later ones share. */
const traceSession = async (directory, { peer: { folder, image }, ...session }) => {
  let tree;
  for (const round of [0, 1]) {
    const options = { ...session, peer: { folder, image }, agent: AGENT, name: `processes/${round}` };
    const traces = join(directory, `traces-${session.side}-${round}`);
    mkdirSync(traces);
    tree = await traceProcesses(traces, process.execPath, program, JSON.stringify(options));
  }
  return tree;
};

const measureHost = (strategy, maxGit, { peer }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    const counts = { git: {}, docker: {}, all: {} };
    for (const side of Object.keys(sessionsOf(peer, "docker"))) {
      const tree = await traceSession(directory, { side, peer, repository, strategy, kind: "docker" });
      counts.git[side] = countStarted(tree, isGit);
      counts.docker[side] = countStarted(tree, isDocker);
      counts.all[side] = countOnHost(tree);
    }
    const id = `processes-${strategy}`;
    return {
      rows: [
        countRow({
          id: `${id}/git`,
          name: `git processes on the host, ${strategy}`,
          ...counts.git,
          limit: maxGit,
        }),
        countRow({
          id: `${id}/docker`,
          name: `docker processes, ${strategy}`,
          ...counts.docker,
          limit: MAX_DOCKER,
        }),
        countRow({ id: `${id}/all`, name: `all processes on the host, ${strategy}`, ...counts.all }),
      ],
    };
  });

/** In bubblewrap, because a container's processes are the daemon's. The commands around the agent are the same. */
const measureInSandbox = ({ peer }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    const counts = {};
    for (const side of Object.keys(sessionsOf(peer, "bubblewrap"))) {
      const tree = await traceSession(directory, {
        side,
        peer,
        repository,
        strategy: "branch",
        kind: "bubblewrap",
      });
      counts[side] = countInSandboxes(tree);
    }
    const name = "processes in the sandbox, around the agent's";
    return { rows: [countRow({ id: "processes-sandbox/around", name, ...counts, limit: MAX_IN_SANDBOX })] };
  });

const hostBenchmark = (strategy, maxGit) => ({
  name: `processes-${strategy}`,
  problem: () => PROBLEMS.docker() ?? straceProblem(),
  measure: (context) => measureHost(strategy, maxGit, context),
});

export const processBenchmarks = [
  hostBenchmark("branch", 10),
  hostBenchmark("merge-to-head", 12),
  {
    name: "processes-sandbox",
    problem: () => PROBLEMS.bubblewrap() ?? straceProblem(),
    measure: measureInSandbox,
  },
];

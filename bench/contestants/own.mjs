// One session with sanddune: one call of run().
import { command as commandAgent, run } from "../../dist/index.js";
import { bubblewrap } from "../../dist/sandboxes/bubblewrap.js";
import { docker } from "../../dist/sandboxes/docker.js";
import { IMAGE } from "../machine/runtimes.mjs";

const mountsOf = (paths) => ({ mounts: paths.map((path) => ({ hostPath: path, sandboxPath: path })) });

const SANDBOXES = {
  docker: (mounts) => docker({ imageName: IMAGE, ...mountsOf(mounts) }),
  bubblewrap: (mounts) => bubblewrap(mountsOf(mounts)),
};

const plain = new Map();

/** As in a program, which has one provider for all of its runs. */
export const ownSandbox = (kind, mounts) => {
  if (mounts !== undefined) return SANDBOXES[kind](mounts);
  const sandbox = plain.get(kind) ?? SANDBOXES[kind]([]);
  plain.set(kind, sandbox);
  return sandbox;
};

export const ownAgent = (agent) => commandAgent(agent.join(" "));

export const ownLogging = (onFirstByte) => ({
  type: "file",
  quiet: true,
  ...(onFirstByte !== undefined && { onAgentStreamEvent: onFirstByte }),
});

export const strategyOf = (strategy, branch) =>
  strategy === "branch" ? { type: "branch", branch } : { type: strategy };

export const ownSession = async ({
  kind,
  repository,
  strategy,
  name,
  agent,
  iterations = 1,
  mounts,
  onFirstByte,
}) => {
  const result = await run({
    agent: ownAgent(agent),
    sandbox: ownSandbox(kind, mounts),
    cwd: repository,
    branchStrategy: strategyOf(strategy, `own/${name}`),
    prompt: "Work",
    maxIterations: iterations,
    logging: ownLogging(onFirstByte),
  });
  if (result.commits.length !== iterations) {
    throw new Error(`run() has made ${result.commits.length} commits, not ${iterations}`);
  }
  return result;
};

// The closest peer, as its users run it: its run(), its docker(), and an agent provider with our script. It is installed
// for the time of the bench, into a temporary folder. It has no bubblewrap.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runProgram } from "../machine/command.mjs";
import { dockerProblem, IMAGE } from "../machine/runtimes.mjs";
import { strategyOf } from "./own.mjs";

const PACKAGE = "@ai-hero/sandcastle";
const FLAGS = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];

/** npm's own code, e.g. E404 or ENOTFOUND: its whole message names hosts and folders of this machine. */
const reasonOf = ({ stderr = "", message }) =>
  /npm (?:error|ERR!) code (\S+)/.exec(stderr)?.[1] ?? message.split("\n")[0];

const PEER_IMAGE = `sanddune-bench-peer-${process.pid}`;

/**
 * The peer's images must start something that stays, and it ends a container with `docker stop`. The image of its own
 * template then waits for ten seconds, because `sleep` as the first process ignores SIGTERM. This one does not.
 */
const DOCKERFILE = `FROM ${IMAGE}
ENTRYPOINT ["sleep", "infinity"]
STOPSIGNAL SIGKILL
`;

const buildImage = () => {
  try {
    execFileSync("docker", ["build", "--quiet", "--tag", PEER_IMAGE, "-"], {
      input: DOCKERFILE,
      stdio: "pipe",
    });
  } catch (error) {
    return `its image cannot be built: ${error.message.split("\n")[0]}`;
  }
};

/** Where it is installed, or why it is not. Its image is gone when this process ends. */
export const installPeer = async (directory) => {
  const imageProblem = dockerProblem() ?? buildImage();
  if (imageProblem !== undefined) return { problem: imageProblem };
  process.on("exit", () => execFileSync("docker", ["rmi", "--force", PEER_IMAGE], { stdio: "pipe" }));
  return installPackage(directory);
};

const installPackage = async (directory) => {
  const folder = join(directory, "peer");
  mkdirSync(folder);
  try {
    await runProgram("npm", ["install", ...FLAGS, "--prefix", folder, PACKAGE]);
  } catch (error) {
    return { problem: `npm cannot install ${PACKAGE}: ${reasonOf(error)}` };
  }
  return loadPeer(join(folder, "node_modules", PACKAGE), PEER_IMAGE);
};

export const loadPeer = async (folder, image) => {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const load = (name) => import(pathToFileURL(join(folder, "dist", name)).href);
  const [{ run, createSandbox }, { docker }] = await Promise.all([
    load("index.js"),
    load("sandboxes/docker.js"),
  ]);
  return { folder, image, name: `sandcastle ${version}`, run, createSandbox, docker };
};

export const peerSandbox = (peer, mounts = []) =>
  peer.docker({
    imageName: peer.image,
    mounts: mounts.map((path) => ({ hostPath: path, sandboxPath: path })),
  });

export const peerAgent = (agent) => ({
  name: "bench",
  env: {},
  captureSessions: false,
  buildPrintCommand: () => ({ command: agent.join(" ") }),
  parseStreamLine: (line) => [{ type: "text", text: `${line}\n` }],
});

export const peerLogging = (repository, name, onFirstByte) => ({
  type: "file",
  path: join(repository, ".sandcastle/logs", `${name.replaceAll("/", "-")}.log`),
  ...(onFirstByte !== undefined && { onAgentStreamEvent: onFirstByte }),
});

export const peerSession = async (peer, session) => {
  const { repository, strategy, name, agent, iterations = 1, mounts, onFirstByte } = session;
  const result = await peer.run({
    agent: peerAgent(agent),
    sandbox: peerSandbox(peer, mounts),
    cwd: repository,
    branchStrategy: strategyOf(strategy, `peer/${name}`),
    prompt: "Work",
    maxIterations: iterations,
    logging: peerLogging(repository, name, onFirstByte),
  });
  if (result.commits.length !== iterations) {
    throw new Error(`the peer has made ${result.commits.length} commits, not ${iterations}`);
  }
  return result;
};

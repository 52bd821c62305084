import { runProcess } from "../../process/runProcess.ts";
import { type ContainerEngine, engineClients, hostUserId } from "./engine.ts";

const askWhetherRootless = async (): Promise<boolean> => {
  const answer = await runProcess({
    program: "docker",
    args: ["info", "--format", "{{json .SecurityOptions}}"],
    timeoutMs: 10_000,
  });
  return answer.stdout.includes("name=rootless");
};

const answers = new Map<string, Promise<boolean>>();

/** A rootless daemon maps the host's user to root. Each daemon is asked once; for root the answer does not matter. */
const daemonIsRootless = async (): Promise<boolean> => {
  if (process.getuid?.() === 0) return false;
  const daemon = `${process.env["DOCKER_HOST"]} ${process.env["DOCKER_CONTEXT"]}`;
  const answer = answers.get(daemon) ?? askWhetherRootless();
  answers.set(daemon, answer);
  // Asked again if it could not answer.
  answer.catch(() => answers.delete(daemon));
  return answer;
};

/** Docker, as the container sandboxes use it. */
export const dockerEngine: ContainerEngine = {
  ...engineClients.docker,
  removeArguments: ["rm", "--force", "--volumes"],
  runArguments: [],
  usualSocketPath: "/var/run/docker.sock",
  clientArguments: (url) => ["--host", url],
  defaultSelinuxLabel: () => false,
  mountSetsLabels: false,
  hostUser: async () => ({
    user: (await daemonIsRootless()) ? "0:0" : hostUserId(),
    runArguments: [],
  }),
};

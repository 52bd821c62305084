import { SandboxError } from "../../errors.ts";
import { isRoot, mountOptions } from "../../process/overlay/layers.ts";
import { runProcess } from "../../process/runProcess.ts";
import { mountField } from "./arguments.ts";
import { type ContainerEngine, callEngine, engineClients, hostUserId } from "./engine.ts";
import { dockerSocket, USUAL_DOCKER_SOCKET } from "./socket/dockerSocket.ts";

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

/** A context is known to the client only. */
const askAddress = async (): Promise<string> => {
  const format = "{{.Endpoints.docker.Host}}";
  const { exitCode, stdout, stderr } = await callEngine(
    engineClients.docker,
    ["context", "inspect", "--format", format],
    { timeoutMs: 10_000 },
  );
  if (exitCode === 0) return stdout.trim();
  throw new SandboxError("docker", "the address of its daemon could not be found out", stderr);
};

const addressOfDaemon = async (): Promise<string> => {
  const socketPath = dockerSocket();
  if (socketPath !== undefined) return `unix://${socketPath}`;
  const { DOCKER_HOST: host, DOCKER_CONTEXT: context } = process.env;
  return host && !context ? host : askAddress();
};

/** Docker, as the container sandboxes use it. */
export const dockerEngine: ContainerEngine = {
  ...engineClients.docker,
  removeArguments: ["rm", "--force", "--volumes"],
  commitArguments: ["commit"],
  untagArguments: (tag) => ["image", "rm", "--force", tag],
  runArguments: [],
  usualSocketPath: USUAL_DOCKER_SOCKET,
  localSocket: dockerSocket,
  address: addressOfDaemon,
  clientArguments: (url) => ["--host", url],
  defaultSelinuxLabel: () => false,
  mountSetsLabels: false,
  // A volume for this container alone.
  overlayArguments: ({ sandboxPath }, layers) => [
    "--mount",
    [
      "type=volume",
      mountField("dst", sandboxPath),
      "volume-driver=local",
      "volume-opt=type=overlay",
      "volume-opt=device=overlay",
      mountField("volume-opt", `o=${mountOptions(layers)}`),
    ].join(","),
  ],
  stacksLayers: true,
  // A deleted file leaves one of root's in the work directory. A root that a rootless daemon has is this user.
  overlayProblem: async () =>
    isRoot() || (await daemonIsRootless())
      ? undefined
      : "the Docker daemon leaves files in an overlay that only root can delete",
  hostUser: async () => ({
    user: (await daemonIsRootless()) ? "0:0" : hostUserId(),
    runArguments: [],
  }),
};

import { runProcess } from "../process/runProcess.ts";
import { type ContainerEngine, hostUserId } from "./containerEngine.ts";
import type { ContainerOptions } from "./containerOptions.ts";
import { containerSandboxProvider } from "./containerSandbox.ts";
import type { BindMountSandboxProvider } from "./contract.ts";

export type DockerOptions = ContainerOptions;

const askWhetherRootless = async (): Promise<boolean> => {
  const answer = await runProcess({
    program: "docker",
    args: ["info", "--format", "{{json .SecurityOptions}}"],
    timeoutMs: 10_000,
  });
  return answer.stdout.includes("name=rootless");
};

const answers = new Map<string, Promise<boolean>>();

/** A rootless daemon shows the host's user as root. Each daemon is asked once, and never by root, who has no use for one. */
const daemonIsRootless = async (): Promise<boolean> => {
  if (process.getuid?.() === 0) return false;
  const daemon = `${process.env["DOCKER_HOST"]} ${process.env["DOCKER_CONTEXT"]}`;
  const answer = answers.get(daemon) ?? askWhetherRootless();
  answers.set(daemon, answer);
  // Asked again if it could not answer.
  answer.catch(() => answers.delete(daemon));
  return answer;
};

const engine: ContainerEngine = {
  name: "docker",
  installHint: "Install Docker: https://docs.docker.com/engine/install/",
  removeArguments: ["rm", "--force", "--volumes"],
  defaultSelinuxLabel: () => false,
  hostUser: async () => ({
    user: (await daemonIsRootless()) ? "0:0" : hostUserId(),
    runArguments: [],
  }),
};

/**
 * Sandboxes that are Docker containers, one each, without capabilities. The image is never pulled or built by a run.
 * Commands run as the host's user, whoever the image's user is, so the worktree's files stay theirs.
 *
 * @example
 * await run({ agent, sandbox: docker({ image: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const docker = (settings: DockerOptions = {}): BindMountSandboxProvider =>
  containerSandboxProvider(engine, settings);

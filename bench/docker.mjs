import { docker } from "../dist/sandboxes/docker.js";
import { command } from "./command.mjs";
import { dockerProblem, IMAGE } from "./runtimes.mjs";

/** The container sees the worktree and the repository's git directory at their own paths, so that git works in it. */
const runInSandbox = async ({ worktree, gitDirectory, name }) => {
  const mounts = [worktree, gitDirectory].flatMap((path) => ["--volume", `${path}:${path}`]);
  const user = `${process.getuid()}:${process.getgid()}`;
  const options = ["--name", name, "--user", user, ...mounts, "--workdir", worktree];
  await command("docker", "run", "-d", "--init", ...options, IMAGE, "sleep", "infinity");
  await command("docker", "exec", name, "sh", "agent.sh");
  await command("docker", "rm", "-f", name);
};

export const dockerContest = {
  name: "docker",
  problem: dockerProblem,
  sandbox: () => docker({ imageName: IMAGE }),
  runInSandbox,
  figure: ({ rawMs, ownMs }) => ({ value: ownMs / rawMs, text: `${(ownMs / rawMs).toFixed(2)}x` }),
  target: { limit: 1.5, text: "at most 1.5x" },
};

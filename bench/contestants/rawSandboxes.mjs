// Sandboxes by hand. Each sees the worktree and the repository's git directory at their own paths, so that git works in it.
import { command, runProgram } from "../machine/command.mjs";
import { IMAGE } from "../machine/runtimes.mjs";

const openDocker = async ({ worktree, gitDirectory, name, mounts = [] }) => {
  const paths = [...new Set([worktree, gitDirectory, ...mounts])];
  const volumes = paths.flatMap((path) => ["--volume", `${path}:${path}`]);
  const user = `${process.getuid()}:${process.getgid()}`;
  const options = ["--name", name, "--user", user, ...volumes, "--workdir", worktree];
  await command("docker", "run", "-d", "--init", ...options, IMAGE, "sleep", "infinity");
  return {
    exec: (agent, onOutput) => runProgram("docker", ["exec", name, ...agent], { onOutput }),
    close: () => command("docker", "rm", "-f", name),
  };
};

const ISOLATION = [
  "--unshare-all",
  "--die-with-parent",
  "--ro-bind",
  "/",
  "/",
  "--dev",
  "/dev",
  "--proc",
  "/proc",
];

/** There is nothing to open: each command has a bwrap of its own. */
const openBubblewrap = async ({ worktree, gitDirectory, mounts = [] }) => {
  const binds = [worktree, gitDirectory, ...mounts].flatMap((path) => ["--bind", path, path]);
  return {
    exec: (agent, onOutput) =>
      runProgram("bwrap", [...ISOLATION, ...binds, "--chdir", worktree, ...agent], { onOutput }),
    close: async () => {},
  };
};

export const OPEN_RAW = { docker: openDocker, bubblewrap: openBubblewrap };

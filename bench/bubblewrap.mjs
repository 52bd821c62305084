import { bubblewrap } from "../dist/sandboxes/bubblewrap.js";
import { command } from "./command.mjs";
import { bubblewrapProblem } from "./runtimes.mjs";

/** One bwrap, in which only the worktree and the repository's git directory can be written to. */
const runInSandbox = async ({ worktree, gitDirectory }) => {
  const mounts = [worktree, gitDirectory].flatMap((path) => ["--bind", path, path]);
  const isolation = [
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
  await command("bwrap", ...isolation, ...mounts, "--chdir", worktree, "sh", "agent.sh");
};

export const bubblewrapContest = {
  name: "bubblewrap",
  problem: bubblewrapProblem,
  sandbox: () => bubblewrap(),
  runInSandbox,
  figure: ({ rawMs, ownMs }) => ({ value: ownMs - rawMs, text: `+${Math.round(ownMs - rawMs)} ms` }),
  target: { limit: 150, text: "at most +150 ms" },
};

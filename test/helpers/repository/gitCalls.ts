import { programCalls } from "../processes/programCalls.ts";
import { processIsAlive, waitFor } from "../processes/waiting.ts";

/** The first word that is neither an option nor the value of `-c` or `-C`. */
const subcommandOf = (args: readonly string[]): string => {
  const at = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !["-c", "-C"].includes(args[index - 1] ?? ""),
  );
  return args[at] ?? "";
};

/** In the arguments of each git that sanddune starts, and of none that a test starts. */
const OURS = "safe.bareRepository=explicit";

/** Lists the git processes that sanddune starts on the host from now on, until the test ends. Git's own children are not on the list. */
export const gitCalls = () => {
  const all = programCalls("git");
  const calls = () => all().filter(({ args }) => args.includes(OURS));
  const running = () =>
    calls()
      .map(({ pid }) => pid)
      .filter(processIsAlive);
  return {
    started: () => calls().map(({ args }) => subcommandOf(args)),
    /** The process ids of those that have not ended. */
    running,
    someRunning: () => waitFor(() => running().length > 0),
    ended: () => waitFor(() => running().length === 0),
  };
};

import { removeDeadRun } from "./leftovers.ts";
import { readRun } from "./run.ts";

/**
 * A program of its own: waits for the test runner to end, which closes its standard input, and removes what the test
 * runner has left if that could not do so itself, because it was killed. The argument is the directory of the run.
 */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.stdin.resume().on("close", async () => {
  const run = readRun(process.argv[2] ?? "");
  if (run !== undefined) await removeDeadRun(run);
});

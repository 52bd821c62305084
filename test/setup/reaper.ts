import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeDeadRun } from "./leftovers.ts";

/**
 * A program of its own: waits for the test runner to end, which closes its standard input, and removes what the test
 * runner has left if that could not do so itself, because it was killed. The argument is the directory of the run.
 */
const record = join(process.argv[2] ?? "", "run.json");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.stdin.resume().on("close", async () => {
  if (existsSync(record)) await removeDeadRun(JSON.parse(readFileSync(record, "utf8")));
});

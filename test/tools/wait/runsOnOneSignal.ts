import { run, runAll, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";

/** Starts eleven runs and eleven tasks with one signal, at which Node.js warns of a leak, and aborts them all. */
const [cwd = ""] = process.argv.slice(2);
const controller = new AbortController();
const { signal } = controller;
const tasks = Array.from({ length: 11 }, (_, index) => ({
  agent: scripted([{ text: "Nothing to do" }]),
  sandbox: testIsolated(),
  branchStrategy: { type: "branch", branch: `branch-${index}` } as const,
  prompt: "x",
  cwd,
  signal,
}));
const begun = [...tasks.map((task) => run(task)), runAll(tasks, { concurrency: 11, signal })];
controller.abort();
await Promise.allSettled(begun);

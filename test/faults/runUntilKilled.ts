/** One run, in a process of its own. Argv: the options of the run as JSON; the branch strategy, `cwd`, the steps. */
import { run, type ScriptedStep, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

interface Order {
  readonly cwd: string;
  readonly sandbox: "bubblewrap" | "isolated";
  readonly branchStrategy: { type: "merge-to-head" } | { type: "branch"; branch: string };
  readonly steps: ScriptedStep[];
}

const order = JSON.parse(process.argv[2] ?? "") as Order;
await run({
  agent: scripted(order.steps),
  sandbox: order.sandbox === "bubblewrap" ? bubblewrap() : testIsolated(),
  branchStrategy: order.branchStrategy,
  prompt: "Work",
  cwd: order.cwd,
} as Parameters<typeof run>[0]);
console.log("the run ended");

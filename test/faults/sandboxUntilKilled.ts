/** Makes a sandbox that lasts and works in it, in a process of its own that the test kills. Argv: an order as JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox, createWorktree, type ScriptedStep, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";

export interface SandboxOrder {
  readonly cwd: string;
  readonly branch: string;
  readonly provider: "bubblewrap" | "docker";
  readonly image: string;
  /** One list for each run. */
  readonly runs: readonly (readonly ScriptedStep[])[];
  /** Files that say how far it has come. */
  readonly marks: string;
  readonly closes: boolean;
  /** The sandbox is over a worktree that lasts by itself. */
  readonly isInWorktree?: boolean;
}

const order = JSON.parse(process.argv[2] ?? "") as SandboxOrder;
const mark = (name: string) => writeFileSync(join(order.marks, name), "");
const { branch, cwd } = order;
const provider = order.provider === "docker" ? docker({ image: order.image }) : bubblewrap();
const open = async () => {
  if (!order.isInWorktree) return createSandbox({ branch, sandbox: provider, cwd });
  const worktree = await createWorktree({ branchStrategy: { type: "branch", branch }, cwd });
  return worktree.createSandbox({ sandbox: provider });
};
const sandbox = await open();
mark("open");
for (const [number, steps] of order.runs.entries()) {
  await sandbox.run({ agent: scripted(steps), prompt: "Work" });
  mark(`run-${number + 1}`);
}
mark("idle");
if (order.closes) await sandbox.close();
else setInterval(() => {}, 1000);

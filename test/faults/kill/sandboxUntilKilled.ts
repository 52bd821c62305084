/** Makes a sandbox that lasts and works in it, in a process of its own that the test kills. Argv: an order as JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox, createWorktree, type ScriptedStep, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";

export interface SandboxOrder {
  readonly cwd: string;
  readonly branch: string;
  readonly provider: "bubblewrap" | "docker";
  readonly image: string;
  /** One list for each run. */
  readonly runs: readonly (readonly ScriptedStep[])[];
  /** For files that say how far it has come. Host and sandbox see it at the same path. */
  readonly marks: string;
  readonly closes: boolean;
  /** The sandbox is over a worktree that lasts by itself. */
  readonly isInWorktree: boolean;
}

const order = JSON.parse(process.argv[2] ?? "") as SandboxOrder;
const { branch, cwd, image, marks } = order;
const mounts = [{ hostPath: marks, sandboxPath: marks }];
const mark = (name: string) => writeFileSync(join(marks, name), "");
const provider = order.provider === "docker" ? docker({ imageName: image, mounts }) : bubblewrap({ mounts });
const open = async () => {
  if (!order.isInWorktree) return createSandbox({ branch, sandbox: provider, cwd });
  const worktree = await createWorktree({ branchStrategy: { type: "branch", branch }, cwd });
  return worktree.createSandbox({ sandbox: provider });
};
const sandbox = await open();
const logging = { type: "file", quiet: true } as const;
for (const steps of order.runs) await sandbox.run({ agent: scripted(steps), prompt: "Work", logging });
mark("idle");
if (order.closes) await sandbox.close();
else setInterval(() => {}, 1000);

/** One run in a cluster, in a process of its own. Argv: the repository and the image. */
import { run, scripted } from "../../src/index.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";

const [cwd = "", image = "", leaseMs = ""] = process.argv.slice(2);
await run({
  agent: scripted([{ text: "at work" }, { shell: "sleep 100000" }]),
  sandbox: kubernetes({ imageName: image, leaseMs: Number(leaseMs) }),
  branchStrategy: { type: "branch", branch: "agent/orphan" },
  logging: { type: "stdout" },
  prompt: "Work",
  cwd,
});

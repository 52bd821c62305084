/**
 * Forks a podman sandbox and keeps its set-up, in a process of its own. Argv: the repository and the image. Prints a line of JSON: what
 * the fork and a later sandbox have, how often the hook ran, and the warnings.
 */
import { createSandbox } from "../../../src/index.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { podman } from "../../../src/sandboxes/podman.ts";

const [, , cwd = "", imageName = ""] = process.argv;
const hook = { command: "echo made >/tmp/made; date +%s%N >/tmp/ran", cache: { key: ["README.md"] } };
const open = (branch: string) =>
  createSandbox({
    ...{ branch, cwd, sandbox: podman({ imageName }) },
    hooks: { sandbox: { onSandboxReady: [hook] } },
  });
const show = "cat /tmp/made /tmp/ran; cat /tmp/later 2>/dev/null || true";

const sandbox = await open("agent/work");
const first = (await sandbox.exec(show)).stdout;
await sandbox.exec("echo later >/tmp/later");
const [fork] = await sandbox.fork(1);
const forked = (await fork?.exec(show))?.stdout;
const next = await open("agent/next");
const again = (await next.exec(show)).stdout;
const closed = await Promise.all([sandbox, fork, next].map((each) => each?.close()));
const warnings = [sandbox, next].flatMap((each) => each.warnings);
await cleanUp(await findRepository(cwd), { remove: true, runs: [], branches: [], records: false });
console.log(
  JSON.stringify({
    ...{ first, forked, again },
    warnings: [...warnings, ...closed.flatMap((result) => result?.warnings ?? [])],
  }),
);

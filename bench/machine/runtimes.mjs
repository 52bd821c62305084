// The runtimes of this machine. A benchmark that lacks one is skipped, with the reason.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// The runtimes of the tests serve here too, if they have been started.
const environment = fileURLToPath(new URL("../../.cache/runtimes/env", import.meta.url));
if (existsSync(environment)) process.loadEnvFile(environment);

export const IMAGE =
  process.env.SANDDUNE_BENCH_IMAGE ?? process.env.SANDDUNE_TEST_IMAGE ?? "sanddune-test-base";

const complaint = (program, args) => {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
};

/** Why there is no Docker to measure with; `undefined` when there is. */
export const dockerProblem = () => complaint("docker", ["image", "inspect", "--format", "{{.Id}}", IMAGE]);

export const bubblewrapProblem = () => complaint("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]);

/** Processes are counted with strace; some containers forbid it. */
export const straceProblem = () => complaint("strace", ["-f", "-o", "/dev/null", "true"]);

export const PROBLEMS = { docker: dockerProblem, bubblewrap: bubblewrapProblem };

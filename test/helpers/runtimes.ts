import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";

const CACHE = join(import.meta.dirname, "../../.cache");
const ENV_FILE = join(CACHE, "runtimes/env");
/** Where `scripts/agents/install` puts the agents. */
export const AGENTS = join(CACHE, "agents");

/** What `scripts/runtimes/start` wrote down, unless the caller has set it otherwise. */
if (existsSync(ENV_FILE)) {
  for (const line of readFileSync(ENV_FILE, "utf8").split("\n")) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) process.env[name] ??= value.replace(/\\(.)/g, "$1");
  }
}

export const TEST_IMAGE = process.env["SANDDUNE_TEST_IMAGE"] ?? "sanddune-test-base";
/** Its user is `agent`, 1000. */
export const TEST_USER_IMAGE = process.env["SANDDUNE_TEST_USER_IMAGE"] ?? "sanddune-test-user";
export const TEST_USER = process.env["SANDDUNE_TEST_USER"] ?? "sanddune-test";
/** Runs its arguments as the test user, with that user's rootless Podman. */
export const AS_TEST_USER = process.env["SANDDUNE_AS_TEST_USER"];

export const isRoot = process.getuid?.() === 0;

const complaint = (
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): string | undefined => {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", cwd: "/", ...options });
  return status === 0 ? undefined : `${program}: ${error?.message ?? stderr.trim()}`;
};

const inspectImage = ["image", "inspect", "--format", "{{.Id}}", TEST_IMAGE];

/** Some agents write into their home even to say their version. */
const agentComplaint = (launcher: string, args = ["--version"], cwd = "/"): string | undefined => {
  const path = join(AGENTS, "bin", launcher);
  if (!existsSync(path)) return `${path} does not exist: run scripts/agents/install`;
  return complaint(path, args, { cwd, env: { ...process.env, HOME: join(AGENTS, "home") } });
};

const importCursorSdk = ["--no-warnings", "--input-type=module", "--eval", 'await import("@cursor/sdk")'];

const checks = {
  docker: () => complaint("docker", inspectImage),
  podman: () => complaint("podman", inspectImage),
  bubblewrap: () =>
    complaint("bwrap", [
      "--unshare-all",
      "--ro-bind",
      "/usr",
      "/usr",
      "--ro-bind",
      "/bin",
      "/bin",
      "--ro-bind",
      "/lib",
      "/lib",
      "--ro-bind-try",
      "/lib64",
      "/lib64",
      "true",
    ]),
  dockerd: () => (isRoot ? complaint("dockerd", ["--version"]) : "only root can start one"),
  sshd: () => (existsSync("/usr/sbin/sshd") ? complaint("ssh", ["-V"]) : "/usr/sbin/sshd does not exist"),
  tmux: () => complaint("tmux", ["-V"]),
  bash: () => complaint("bash", ["--version"]),
  zsh: () => complaint("zsh", ["--version"]),
  fish: () => complaint("fish", ["--version"]),
  "test user": () =>
    isRoot ? complaint("runuser", ["-u", TEST_USER, "--", "true"]) : "only root can become another user",
  "rootless podman": () =>
    AS_TEST_USER === undefined
      ? "SANDDUNE_AS_TEST_USER is not set"
      : complaint(AS_TEST_USER, ["podman", ...inspectImage]),
  pytest: () => complaint("python3", ["-m", "pytest", "--version"]),
  go: () => complaint("go", ["version"]),
  "claude code": () => agentComplaint("claude"),
  codex: () => agentComplaint("codex"),
  opencode: () => agentComplaint("opencode"),
  pi: () => agentComplaint("pi"),
  gemini: () => agentComplaint("gemini"),
  copilot: () => agentComplaint("copilot"),
  "node 22": () => agentComplaint("node22"),
  "cursor sdk": () => agentComplaint("node22", importCursorSdk, join(AGENTS, "cursor")),
} satisfies Record<string, () => string | undefined>;

export type Runtime = keyof typeof checks;

/** Some take seconds to say their version, and a file may ask more than once. */
const reasons = new Map<Runtime, string | undefined>();

/** Why a runtime cannot be used here; `undefined` if it can. */
export const whyMissing = (runtime: Runtime): string | undefined => {
  if (!reasons.has(runtime)) reasons.set(runtime, checks[runtime]());
  const reason = reasons.get(runtime);
  return reason === undefined ? undefined : `${runtime} is not available: ${reason}`;
};

/** Whether every runtime has to be there. */
export const requiresRuntimes = process.env["SANDDUNE_REQUIRE_RUNTIMES"] === "1";

/** Tests that need runtimes: skipped with the reason, or failed where SANDDUNE_REQUIRE_RUNTIMES=1 wants them all. */
export const describeWith = (runtimes: readonly Runtime[], title: string, body: () => void): void => {
  const message = runtimes.map(whyMissing).find((reason) => reason !== undefined);
  if (message === undefined) {
    describe(title, body);
    return;
  }
  if (requiresRuntimes) {
    describe(title, () => {
      test("has its runtime", () => {
        throw new Error(message);
      });
    });
    return;
  }
  console.warn(`Skipped: ${title}. ${message}`);
  describe.skip(title, body);
};

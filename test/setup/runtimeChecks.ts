import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENTS, CACHE } from "./cache.ts";

const ENV_FILE = join(CACHE, "runtimes/env");

/** What `scripts/runtimes/start` wrote down, unless the caller has set it otherwise. */
export const readRuntimeEnv = (): void => {
  if (!existsSync(ENV_FILE)) return;
  for (const line of readFileSync(ENV_FILE, "utf8").split("\n")) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) process.env[name] ??= value.replace(/\\(.)/g, "$1");
  }
};

export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

type Complaint = string | undefined;

/** A daemon may hang. */
const TIMEOUT_MS = 30_000;

const complaint = (program: string, ...args: readonly string[]): Promise<Complaint> =>
  new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      timeout: TIMEOUT_MS,
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", (error) => resolve(`${program}: ${error.message}`));
    child.on("close", (code, signal) =>
      resolve(code === 0 ? undefined : `${program}: ${stderr.trim() || `ended by ${signal ?? code}`}`),
    );
  });

const isRoot = process.getuid?.() === 0;
const image = () => process.env["SANDDUNE_TEST_IMAGE"] ?? "sanddune-test-base";
const inspectImage = () => ["image", "inspect", "--format", "{{.Id}}", image()] as const;

/** `scripts/agents/install` has seen each of them answer. */
const installed = (path: string): Complaint =>
  existsSync(join(AGENTS, path)) ? undefined : `${path} is not installed: run scripts/agents/install`;

const BUBBLEWRAP =
  "--unshare-all --ro-bind /usr /usr --ro-bind /bin /bin --ro-bind /lib /lib --ro-bind-try /lib64 /lib64";

const CHECKS = {
  docker: () => complaint("docker", ...inspectImage()),
  podman: () => complaint("podman", ...inspectImage()),
  bubblewrap: () => complaint("bwrap", ...BUBBLEWRAP.split(" "), "true"),
  dockerd: () => (isRoot ? complaint("dockerd", "--version") : "only root can start one"),
  sshd: () => (isExecutable("/usr/sbin/sshd") ? complaint("ssh", "-V") : "/usr/sbin/sshd cannot be executed"),
  tmux: () => complaint("tmux", "-V"),
  bash: () => complaint("bash", "--version"),
  zsh: () => complaint("zsh", "--version"),
  fish: () => complaint("fish", "--version"),
  root: () => (isRoot ? undefined : "the tests do not run as root"),
  "test user": () =>
    isRoot
      ? complaint("runuser", "-u", process.env["SANDDUNE_TEST_USER"] ?? "sanddune-test", "--", "true")
      : "only root can become another user",
  "rootless podman": () => {
    const asTestUser = process.env["SANDDUNE_AS_TEST_USER"];
    return asTestUser === undefined
      ? "SANDDUNE_AS_TEST_USER is not set"
      : complaint(asTestUser, "podman", ...inspectImage());
  },
  pytest: () => complaint("python3", "-m", "pytest", "--version"),
  go: () => complaint("go", "version"),
  "claude code": () => installed("bin/claude"),
  codex: () => installed("bin/codex"),
  opencode: () => installed("bin/opencode"),
  pi: () => installed("bin/pi"),
  gemini: () => installed("bin/gemini"),
  copilot: () => installed("bin/copilot"),
  "node 22": () => installed("bin/node22"),
  "cursor sdk": () => installed("cursor/node_modules/@cursor/sdk"),
} satisfies Record<string, () => Complaint | Promise<Complaint>>;

/** Something that a test may need and a machine may lack. */
export type Runtime = keyof typeof CHECKS;

/** Why a runtime cannot be used here, for each that cannot. */
export type MissingRuntimes = Partial<Record<Runtime, string>>;

export const findMissingRuntimes = async (): Promise<MissingRuntimes> => {
  const reasons = await Promise.all(
    Object.entries(CHECKS).map(async ([runtime, check]) => [runtime, await check()] as const),
  );
  return Object.fromEntries(reasons.filter(([, reason]) => reason !== undefined));
};

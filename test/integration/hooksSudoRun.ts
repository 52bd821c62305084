import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, type SandboxHook, scripted } from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";

/** Runs an agent after some sandbox hooks, as whoever started this program, and prints what it reported. */
const [engine, cwd, serialised] = process.argv.slice(2) as ["docker" | "podman", string, string];
const { hooks, report, isFollowed } = JSON.parse(serialised) as {
  hooks: SandboxHook[];
  report: string;
  /** Whether another run on the same branch is to follow, without hooks. */
  isFollowed: boolean;
};
const image = process.env["SANDDUNE_TEST_IMAGE"] as string;

mkdirSync(cwd);
const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trimEnd();
git("init", "--quiet", "--initial-branch=main");
git("config", "user.name", "Dev");
git("config", "user.email", "dev@example.com");
writeFileSync(join(cwd, ".gitignore"), "ignored/\n");
git("add", ".");
git("commit", "--quiet", "-m", "Initial commit");
const options = {
  agent: scripted([{ shell: `{ ${report}; } > report.txt 2>&1` }, { commit: "Report" }]),
  sandbox: engine === "docker" ? docker({ image }) : podman({ image }),
  prompt: "Report",
  cwd,
  branchStrategy: { type: "branch", branch: "agent/work" },
} as const;
const message = (error: Error) => `${error.name}: ${error.message}`;
const follow = async () => (isFollowed ? run(options).then(() => "succeeded", message) : null);
const outcome = await run({ ...options, hooks: { sandbox: { onSandboxReady: hooks } } }).then(
  async ({ warnings, preservedWorktreePath }) => ({
    report: git("show", "agent/work:report.txt").split("\n"),
    warnings,
    preserved: preservedWorktreePath === undefined ? null : readdirSync(preservedWorktreePath),
    nextRun: await follow(),
  }),
  async (error: Error) => ({ error: message(error), nextRun: await follow() }),
);
console.log(JSON.stringify(outcome));

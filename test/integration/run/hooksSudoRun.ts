import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, type SandboxHook, scripted } from "../../../src/index.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";

/**
 * Runs an agent again and again on one branch, each time after other sandbox hooks, as whoever started this program, and
 * prints what it reported, or why it could not.
 */
const [engine, cwd, serialised] = process.argv.slice(2) as ["docker" | "podman", string, string];
const { runs, report } = JSON.parse(serialised) as { runs: SandboxHook[][]; report: string };
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
  sandbox: engine === "docker" ? docker({ imageName: image }) : podman({ imageName: image }),
  prompt: "Report",
  cwd,
  branchStrategy: { type: "branch", branch: "agent/work" },
} as const;
const outcomes: unknown[] = [];
for (const onSandboxReady of runs) {
  outcomes.push(
    await run({ ...options, hooks: { sandbox: { onSandboxReady } } }).then(
      ({ warnings, preservedWorktreePath }) => ({
        report: git("show", "agent/work:report.txt").split("\n"),
        warnings,
        preservedWorktreePath,
      }),
      ({ name, message }: Error) => ({ error: `${name}: ${message}` }),
    ),
  );
}
console.log(JSON.stringify(outcomes));

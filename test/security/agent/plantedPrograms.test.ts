import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent } from "../../cli/fixtures.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const PROGRAMS = ["git", "docker", "podman", "bwrap", "sh", "rm", "chmod", "setsid", "stty"];

/** A program that leaves a trace where nobody but the host can, and does what it poses as. */
const planted = (name: string, trace: string): string =>
  `#!/bin/sh\necho ${name} >> '${trace}'\nPATH=/usr/local/bin:/usr/bin:/bin exec ${name} "$@"\n`;

const plant = (directory: string, trace: string): void => {
  mkdirSync(directory, { recursive: true });
  for (const name of PROGRAMS) {
    writeFileSync(join(directory, name), planted(name, trace));
    chmodSync(join(directory, name), 0o755);
  }
};

const scene = (script = OBEDIENT_AGENT) => {
  const cwd = repositoryWithAgent(script);
  writeFileSync(join(cwd, ".gitignore"), "node_modules\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Ignore packages");
  const trace = join(temporaryDirectory(), "trace");
  const bin = join(cwd, "node_modules/.bin");
  /** As package runners have it. */
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  return { cwd, trace, bin, env };
};

const RUN = ["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--prompt", "Fix it"];

describeWith(["bubblewrap"], "programs in the checkout's node_modules/.bin", () => {
  it.each([
    ["run with head", [...RUN, "--head"]],
    ["run on a branch", [...RUN, "--branch", "b"]],
    ["ps", ["ps"]],
    ["clean", ["clean", "--yes"]],
    ["doctor", ["doctor"]],
    ["remove-image", ["docker", "remove-image"]],
  ])("are never started on the host: %s", async (_, args) => {
    const { cwd, trace, bin, env } = scene();
    plant(bin, trace);
    await runCli(args, { cwd, env });
    expect(existsSync(trace) ? readFileSync(trace, "utf8") : "").toBe("");
  });

  it("are not started from a linked worktree, nor from a directory below", async () => {
    const { cwd, trace, bin, env } = scene();
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", linked);
    mkdirSync(join(cwd, "below"));
    plant(bin, trace);
    for (const place of [linked, join(cwd, "below")]) {
      expect(await runCli(["ps"], { cwd: place, env })).toMatchObject({ exitCode: 0 });
    }
    expect(existsSync(trace)).toBe(false);
  });

  it("are not looked for anywhere else in the checkout, nor in one around it", async () => {
    const { cwd, trace } = scene();
    const submodule = join(cwd, "libs/module");
    const origin = temporaryRepository();
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, "libs/module");
    plant(join(cwd, "bin"), trace);
    const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` };
    for (const place of [cwd, submodule]) {
      expect(await runCli(["ps"], { cwd: place, env })).toMatchObject({ exitCode: 0 });
    }
    expect(existsSync(trace)).toBe(false);
  });

  it("are not found through a link in the checkout, wherever it leads", async () => {
    const { cwd, trace } = scene();
    const elsewhere = join(temporaryDirectory(), "elsewhere");
    plant(elsewhere, trace);
    symlinkSync(elsewhere, join(cwd, "bin"));
    const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` };
    expect(await runCli(["ps"], { cwd, env })).toMatchObject({ exitCode: 0 });
    expect(existsSync(trace)).toBe(false);
  });

  it("are not started if it is the agent that puts them there while it works", async () => {
    const { cwd, trace, bin, env } = scene(`
cat > /dev/null
mkdir -p node_modules/.bin
for name in ${PROGRAMS.join(" ")}; do
  printf '#!/bin/sh\\necho planted >> %s\\nPATH=/usr/bin:/bin exec %s "$@"\\n' "$TRACE" "$name" > node_modules/.bin/$name
  chmod +x node_modules/.bin/$name
done
echo done > done.txt && git add done.txt && git commit --quiet -m 'Done'
`);
    const { exitCode } = await runCli([...RUN, "--env", "TRACE"], { cwd, env: { ...env, TRACE: trace } });
    expect(exitCode).toBe(0);
    expect(existsSync(join(bin, "git"))).toBe(true);
    expect(git(cwd, "log", "-1", "--format=%s")).toBe("Done");
    expect(existsSync(trace)).toBe(false);
  });

  it("are pointed out when an agent commits them", async () => {
    const { cwd, env } = scene(`
cat > /dev/null
mkdir -p node_modules/.bin && echo x > node_modules/.bin/git
git add --force node_modules && git commit --quiet -m 'Fix a typo'
`);
    const { stdout } = await runCli([...RUN, "--branch", "b", "--json"], { cwd, env });
    expect(JSON.parse(stdout).protectedPaths).toEqual(["node_modules/.bin/git"]);
  });
});

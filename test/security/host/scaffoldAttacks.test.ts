import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { ENGINES, freshBase, hasImage, labelledFrom, repositoryWith } from "../../cli/image/scenes.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { canaries } from "../lasting/lasting.ts";

const PLANTED = ["git", "docker", "podman", "bwrap", "rm", "chmod"];

/** Plants programs where package managers have theirs: each says that it ran on the host, and does what the real one does. */
const plantPrograms = (fire: (name: string) => string): string =>
  PLANTED.map((name) => {
    const lines = ["#!/bin/sh", fire(name), `PATH=/usr/local/bin:/usr/bin:/bin exec ${name} "$@"`];
    const path = `node_modules/.bin/${name}`;
    return `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} > ${path} && chmod +x ${path}`;
  }).join("\n");

/** A project whose dependencies are installed, with an agent that does this. */
const projectWith = (script: string): string => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, ".gitignore"), "/node_modules\n");
  writeFileSync(join(cwd, "agent.sh"), `mkdir -p node_modules/.bin\n${script}\n`);
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Set up");
  return cwd;
};

/** As `npx sanddune` starts it: the project's own programs come first. */
const npx = (cwd: string, args: readonly string[]) =>
  runCli(args, { cwd, env: { PATH: `${join(cwd, "node_modules/.bin")}:${process.env["PATH"]}` } });

const AGENT = ["--agent-command", "sh agent.sh", "--prompt", "Work"];
const EVERYDAY = [["ps"], ["clean"], ["clean", "--yes"], ["doctor"], ["complete", "--", "logs", ""]];

const SANDBOXES = [
  { runtime: "bubblewrap", flags: ["--sandbox", "bubblewrap"] },
  { runtime: "docker", flags: ["--sandbox", "docker", "--image-name", TEST_IMAGE] },
] as const;

for (const { runtime, flags } of SANDBOXES) {
  // `sanddune doctor` tries bubblewrap out.
  describeWith(
    [runtime, "bubblewrap"],
    `programs that an agent in ${runtime} leaves on the project's own path`,
    () => {
      it("do not run on the host, neither in the same run nor later, if it works in the checkout", async () => {
        const { fire, fired } = canaries();
        const cwd = projectWith(plantPrograms(fire));
        expect(await npx(cwd, ["run", ...AGENT, ...flags, "--head"])).toMatchObject({ exitCode: 0 });
        expect(existsSync(join(cwd, "node_modules/.bin/git"))).toBe(true);
        expect(fired()).toEqual([]);
        for (const command of EVERYDAY) await npx(cwd, command);
        expect(fired()).toEqual([]);
      });
    },
  );
}

describeWith(["bubblewrap"], "programs that an agent commits to the project's own path", () => {
  it("do not run on the host after they are merged, and are reported", async () => {
    const { fire, fired } = canaries();
    const commit = "git add --force node_modules && git commit --quiet -m 'Fix a typo'";
    const cwd = projectWith(`${plantPrograms(fire)}\n${commit}`);
    const { exitCode, stdout } = await npx(cwd, [
      ...["run", ...AGENT, "--sandbox", "bubblewrap", "--merge-to-head", "--json"],
    ]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).protectedPaths).toContain("node_modules/.bin/git");
    for (const command of EVERYDAY) await npx(cwd, command);
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a repository within a checkout", () => {
  it("programs of the checkout around a repository do not run, either", async () => {
    const { fire, fired } = canaries();
    const outer = projectWith("");
    execFileSync("sh", ["-c", plantPrograms(fire)], { cwd: outer });
    const inner = join(outer, "packages/inner");
    mkdirSync(inner, { recursive: true });
    git(inner, "init", "--quiet", "--initial-branch=main");
    const identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"];
    git(inner, ...identity, "commit", "--quiet", "--allow-empty", "-m", "Begin");
    const PATH = `${join(outer, "node_modules/.bin")}:${process.env["PATH"]}`;
    for (const command of EVERYDAY) await runCli(command, { cwd: inner, env: { PATH } });
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a config file that came with a commit", () => {
  it.each(["test-isolated", "no-sandbox", "constructor", "__proto__", "../docker"])(
    "cannot choose %s, in which an agent would not be kept from anything",
    async (sandbox) => {
      const { fire, fired } = canaries();
      const cwd = repositoryWith({
        ".sanddune/config.json": JSON.stringify({ agent: "command", agentCommand: fire("agent"), sandbox }),
      });
      const { exitCode, stderr } = await runCli(["run", "--prompt", "Work"], { cwd });
      expect(exitCode).toBe(2);
      expect(stderr).toContain("config.json");
      await runCli(["doctor"], { cwd });
      expect(fired()).toEqual([]);
    },
  );
});

for (const { engine, fileName } of ENGINES) {
  describeWith([engine], `the image that a config file names, with ${engine}`, () => {
    it.each(["--privileged", "--volume=/:/host", "-v/:/host", "--help", "-h", "x\u001b[31m"])(
      "is never taken for an option: %j",
      async (imageName) => {
        const cwd = repositoryWith({
          ".sanddune/config.json": JSON.stringify({
            ...{ agent: "command", agentCommand: "true", sandbox: engine, imageName },
          }),
          [`.sanddune/${fileName}`]: `FROM ${TEST_IMAGE}\n`,
        });
        for (const command of [
          ["run", "--prompt", "Work"],
          [engine, "build-image"],
          [engine, "remove-image"],
        ]) {
          const { exitCode, stdout, stderr } = await runCli(command, { cwd });
          expect(exitCode).not.toBe(0);
          expect(stdout + stderr).not.toContain("\u001b");
        }
      },
    );

    it("is neither removed nor replaced if sanddune has not built it, unless the user names it", async () => {
      const imageName = freshBase(engine);
      const id = () =>
        execFileSync(engine, ["image", "inspect", "--format", "{{.Id}}", imageName], { encoding: "utf8" });
      const before = id();
      const cwd = repositoryWith({
        ".sanddune/config.json": JSON.stringify({ imageName }),
        [`.sanddune/${fileName}`]: `${labelledFrom(engine, TEST_IMAGE)}ENV PLANTED=1\n`,
      });
      for (const command of ["build-image", "remove-image"]) {
        const { exitCode, stderr } = await runCli([engine, command], { cwd });
        expect({ command, exitCode }).toEqual({ command, exitCode: 1 });
        expect(stderr).toContain(`--image-name ${imageName}`);
        expect(id()).toBe(before);
      }
      const named = [engine, "remove-image", "--image-name", imageName];
      expect(await runCli(named, { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
      expect(hasImage(engine, imageName)).toBe(false);
    });
  });
}

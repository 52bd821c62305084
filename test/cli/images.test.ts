import { execFileSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { useOwnTemporaryDirectory } from "../helpers/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { startTerminal } from "../helpers/terminal.ts";
import { processesWith, until } from "./fixtures.ts";
import {
  containersOfBuild,
  ENGINES,
  freshBase,
  freshImageName,
  hasImage,
  inImage,
  labelledFrom,
  repositoryWith,
} from "./imageScenes.ts";
import { runCli, startCli } from "./startCli.ts";

const CLI = join(import.meta.dirname, "../../dist/cli.js");
const OFFLINE = ["--network", "none"];

/** What a run would call its container. */
const runContainer = (): string => `sanddune-20260102-030405-${randomBytes(3).toString("hex")}`;

useOwnTemporaryDirectory();

for (const { engine, fileName, fileFlag, ignoreFile } of ENGINES) {
  const build = `${engine} build-image`.split(" ");

  describeWith([engine], `sanddune ${engine} build-image`, () => {
    test("builds the image of the config directory, again after a change, and tells its name, size and duration", async () => {
      const from = labelledFrom(engine, TEST_IMAGE);
      const imageName = freshImageName(engine);
      const file = (word: string) => `${from}RUN echo ${word} > /word\n`;
      const cwd = repositoryWith({
        [`.sanddune/${fileName}`]: file("first"),
        ".sanddune/config.json": JSON.stringify({ imageName }),
      });
      const first = await runCli([...build, ...OFFLINE], { cwd });
      expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`Built ${imageName}: `) });
      expect(first.stdout).toMatch(/: \d+ MB, in [\d.]+ (s|min)/);
      expect(first.stderr).toContain("3/4 RUN echo first > /word");

      writeFileSync(join(cwd, ".sanddune", fileName), file("second"));
      const again = await runCli([...build, ...OFFLINE, "--json"], { cwd });
      expect(JSON.parse(again.stdout)).toEqual({
        imageName,
        sizeBytes: expect.any(Number),
        durationMs: expect.any(Number),
      });
      expect(inImage(engine, imageName, "cat /word")).toBe("second");
    });

    test("names the image after the repository's directory, and builds from a Dockerfile, where nothing else is said", async () => {
      const word = `hello-${randomInt(1_000_000)}`;
      const cwd = repositoryWith({ ".sanddune/Dockerfile": `FROM ${TEST_IMAGE}\nRUN echo ${word}\n` });
      const imageName = `sanddune:${basename(cwd).toLowerCase()}`;
      onTestFinished(() => void execFileSync(engine, ["image", "rm", imageName]));
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, "--verbose"], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(stderr.split("\n")).toContain(word);
      expect(hasImage(engine, imageName)).toBe(true);
    });

    test("keeps secrets and what runs have written out of the build context, without an ignore file", async () => {
      const imageName = freshImageName(engine);
      const cwd = repositoryWith({
        [`.sanddune/${fileName}`]: `FROM ${TEST_IMAGE}\nCOPY . /context\n`,
        ".sanddune/.env": "KEY=value\n",
        ".sanddune/.env.local": "KEY=value\n",
        ".sanddune/tools/.env": "an example of the user's own\n",
        ".sanddune/worktrees/one/file": "",
        ".sanddune/runs/one/journal.jsonl": "",
        ".sanddune/logs/one.log": "",
        ".sanddune/setup.sh": "true\n",
      });
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, "--image-name", imageName], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      const files = inImage(engine, imageName, "cd /context && find . -type f | sort").split("\n");
      expect(files).toEqual([`./${fileName}`, "./setup.sh", "./tools/.env"].sort());
    });

    test("builds from a file of the user's, with the current directory as the build context", async () => {
      const imageName = freshImageName(engine);
      const cwd = repositoryWith({
        "ci/image": `FROM ${TEST_IMAGE}\nARG WORD=none\nCOPY here.txt /here.txt\nRUN echo $WORD > /word\n`,
        "here.txt": "here",
      });
      const flags = [fileFlag, "ci/image", "--image-name", imageName, "--build-arg", "WORD=given"];
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, ...flags], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(inImage(engine, imageName, "cat /here.txt /word")).toBe("heregiven");
    });

    for (const [ignored, isBuilt] of [
      [undefined, false],
      ["# ours\n/.sanddune/\n", true],
      ["*\n!here.txt\n", true],
    ] as const) {
      test(`${isBuilt ? "builds" : "refuses to build"} where the current directory has secrets and the ignore file is ${JSON.stringify(ignored)}`, async () => {
        const imageName = freshImageName(engine);
        const cwd = repositoryWith({
          image: `FROM ${TEST_IMAGE}\nCOPY . /context\n`,
          "here.txt": "here",
          ".sanddune/.env": "KEY=value\n",
          ...(ignored !== undefined && { [ignoreFile]: ignored }),
        });
        const flags = [fileFlag, "image", "--image-name", imageName];
        const { exitCode, stderr } = await runCli([...build, ...OFFLINE, ...flags], { cwd });
        expect({ exitCode, stderr }).toMatchObject({ exitCode: isBuilt ? 0 : 1 });
        expect(hasImage(engine, imageName)).toBe(isBuilt);
        if (isBuilt) expect(inImage(engine, imageName, "ls -A /context/.sanddune || true")).toBe("");
        else expect(stderr).toContain(`echo .sanddune >> ${join(cwd, ignoreFile)}`);
      });
    }

    test("shows the step that failed with the end of its output, and leaves nothing but the older image", async () => {
      const imageName = freshImageName(engine);
      const base = freshBase(engine);
      const from = labelledFrom(engine, base);
      execFileSync(engine, ["tag", TEST_IMAGE, imageName]);
      const cwd = repositoryWith({
        [`.sanddune/${fileName}`]: `${from}RUN echo all is well\nRUN printf 'no \\033]0;title\\007luck' >&2; : ${base}; exit 3\nRUN echo never\n`,
      });
      const { exitCode, stdout, stderr } = await runCli(
        [...build, ...OFFLINE, "--image-name", imageName, "--json"],
        { cwd },
      );
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout).error).toMatchObject({
        name: "ImageBuildError",
        engine,
        imageName,
        step: expect.stringMatching(/^4\/6 RUN printf .*exit 3$/),
        output: expect.stringContaining("luck"),
      });
      expect(stderr).toMatch(/step 4\/6 RUN printf .*exit 3 failed/);
      const shown = stderr.slice(stderr.indexOf("error:"));
      expect(shown).toContain("luck");
      expect(shown).not.toContain("all is well");
      expect(shown).not.toContain("\u001b");
      expect(shown).toContain(
        `\n  sanddune ${engine} build-image --image-name ${imageName} --network none --verbose\n`,
      );
      expect(hasImage(engine, imageName)).toBe(true);
      expect(containersOfBuild(engine, base)).toEqual([]);
    });

    test("a build that failed can be tried again with all that was said about it but for values, from anywhere", async () => {
      const imageName = freshImageName(engine);
      const cwd = repositoryWith({
        "ci/image": `FROM ${TEST_IMAGE}\nARG WORD\nRUN : ${imageName}; exit 3\n`,
      });
      const flags = [
        ...["--image-name", imageName, "--cwd", cwd, fileFlag, join(cwd, "ci/image")],
        ...["--build-arg", "WORD=two words", "--network", "none"],
      ];
      const { stdout } = await runCli([...build, ...flags, "--json"], { cwd: temporaryDirectory() });
      const told = flags.map((flag) => (flag === "WORD=two words" ? "WORD=…" : flag));
      expect(JSON.parse(stdout).error.retryCommand).toEqual(["sanddune", ...build, ...told, "--verbose"]);
    });

    for (const [signal, expected] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      test(`${signal} stops the build with all that it has started, and exits with ${expected}`, async () => {
        const imageName = freshImageName(engine);
        const base = freshBase(engine);
        const from = labelledFrom(engine, base);
        const seconds = randomInt(1_000_000, 9_000_000);
        const mark = `sleep\0${seconds}\0`;
        const cwd = repositoryWith({
          [`.sanddune/${fileName}`]: `${from}RUN : ${base}; sleep ${seconds}\n`,
        });
        const { child, result } = startCli([...build, ...OFFLINE, "--image-name", imageName], { cwd });
        await until("the build sleeps", () => processesWith(mark).length > 0 || child.exitCode !== null);
        expect(containersOfBuild(engine, base)).not.toEqual([]);
        child.kill(signal);
        const { exitCode, stderr } = await result;
        expect({ exitCode, stderr }).toMatchObject({ exitCode: expected });
        expect(stderr).toContain(`The build was stopped by ${signal}`);
        await until("nothing sleeps any more", () => processesWith(mark).length === 0);
        await until("its containers have gone", () => containersOfBuild(engine, base).length === 0);
        expect(hasImage(engine, imageName)).toBe(false);
      });
    }

    test("says that there is no file to build from, and how to get one", async () => {
      const none = await runCli(build, { cwd: repositoryWith({}) });
      expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("sanddune init") });
      const missing = await runCli([...build, fileFlag, "nowhere"], { cwd: repositoryWith({}) });
      expect(missing).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("nowhere: there is no such file"),
      });
      expect(missing.stderr).not.toContain("sanddune init");
      for (const { stderr } of [none, missing]) expect(stderr).toMatch(/^error: /);
    });

    test("sends nobody to init where init has been", async () => {
      const cwd = repositoryWith({ ".sanddune/config.json": '{ "sandbox": "bubblewrap" }' });
      const { exitCode, stderr } = await runCli(build, { cwd });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining(`${fileFlag} FILE`),
      });
      expect(stderr).toContain(`Write one to ${join(cwd, ".sanddune", fileName)}`);
      expect(stderr).not.toContain("sanddune init");
    });

    test("needs no repository where the file and the name are said", async () => {
      const imageName = freshImageName(engine);
      const cwd = temporaryDirectory();
      writeFileSync(join(cwd, "image"), `FROM ${TEST_IMAGE}\n`);
      const flags = [fileFlag, "image", "--image-name", imageName];
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, ...flags], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(hasImage(engine, imageName)).toBe(true);
    });

    test("refuses a build argument that is none", async () => {
      const refused = await runCli([...build, "--build-arg", "=1"], { cwd: repositoryWith({}) });
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("KEY=VALUE") });
    });
  });

  describeWith([engine], `sanddune ${engine} remove-image`, () => {
    const remove = (cwd: string, imageName: string, ...more: string[]) =>
      runCli([engine, "remove-image", "--image-name", imageName, ...more], { cwd });

    test("removes the name, and no other name of the same image", async () => {
      const [imageName, other] = [freshImageName(engine), freshImageName(engine)];
      for (const name of [imageName, other]) execFileSync(engine, ["tag", TEST_IMAGE, name]);
      const { exitCode, stdout } = await remove(repositoryWith({}), imageName);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Removed ${imageName}\n` });
      expect([imageName, other, TEST_IMAGE].map((name) => hasImage(engine, name))).toEqual([
        false,
        true,
        true,
      ]);
    });

    test("says which images there are when there is none of that name, not even by its id", async () => {
      const other = freshImageName(engine);
      execFileSync(engine, ["tag", TEST_IMAGE, other]);
      const id = execFileSync(engine, ["image", "inspect", "--format", "{{.Id}}", other], {
        encoding: "utf8",
      });
      for (const name of ["sanddune:no-such", id.trim().replace("sha256:", "").slice(0, 12)]) {
        const { exitCode, stderr } = await remove(repositoryWith({}), name);
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(other) });
      }
      expect(hasImage(engine, other)).toBe(true);
    });

    test("needs no repository where the name is said", async () => {
      const imageName = freshImageName(engine);
      execFileSync(engine, ["tag", TEST_IMAGE, imageName]);
      const { exitCode, stderr } = await remove(temporaryDirectory(), imageName);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(hasImage(engine, imageName)).toBe(false);
    });

    for (const [kind, name, next] of [
      ["a run's, and how to stop the run", runContainer(), (runId: string) => `sanddune stop ${runId}`],
      ["somebody else's, and how to look at it", `other-${randomInt(1_000_000)}`, () => `${engine} ps --all`],
    ] as const) {
      test(`keeps an image that a container uses: it says that it is ${kind}, and has nothing removed by force`, async () => {
        const imageName = freshImageName(engine);
        const cwd = repositoryWith({
          [`.sanddune/${fileName}`]: `FROM ${TEST_IMAGE}\nRUN echo ${imageName}\n`,
        });
        await runCli([...build, ...OFFLINE, "--image-name", imageName], { cwd });
        execFileSync(engine, ["create", "--name", name, imageName, "true"]);
        onTestFinished(() => void execFileSync(engine, ["rm", "--force", name]));
        const { exitCode, stdout, stderr } = await remove(cwd, imageName, "--json");
        expect(exitCode).toBe(1);
        expect(JSON.parse(stdout).error).toMatchObject({ name: "ImageInUseError", containers: [name] });
        const again = `sanddune ${engine} remove-image --image-name ${imageName}`;
        expect(stderr).toContain(`To go on:\n  ${next(name.replace("sanddune-", ""))}\n  ${again}\n`);
        expect(stderr).not.toContain("--force");
        expect(hasImage(engine, imageName)).toBe(true);
      });
    }
  });

  for (const command of ["build-image", "remove-image"]) {
    for (const name of ["Bad Name", "", "-x", "a:b:c"]) {
      test(`sanddune ${engine} ${command} refuses the name ${JSON.stringify(name)} before anything else`, async () => {
        const problem = `${JSON.stringify(name)} is no name for an image`;
        const byFlag = await runCli([engine, command, `--image-name=${name}`], { cwd: temporaryDirectory() });
        expect(byFlag).toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining(`--image-name: ${problem}`),
        });
        if (name === "") return;
        const cwd = repositoryWith({ ".sanddune/config.json": JSON.stringify({ imageName: name }) });
        const byConfig = await runCli([engine, command], { cwd });
        expect(byConfig).toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining(`imageName: ${problem}`),
        });
      });
    }
  }

  test(`sanddune ${engine} says how to install what is not there`, async () => {
    const bin = temporaryDirectory();
    const git = `#!/bin/sh\nPATH=${process.env["PATH"]} exec git "$@"\n`;
    writeFileSync(join(bin, "git"), git, { mode: 0o755 });
    const cwd = repositoryWith({ [`.sanddune/${fileName}`]: `FROM ${TEST_IMAGE}\n` });
    for (const command of ["build-image", "remove-image"]) {
      const { exitCode, stderr } = await runCli([engine, command], { cwd, env: { PATH: bin } });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringMatching(/Install (Docker|Podman): /),
      });
    }
  });
}

describeWith(["docker"], "sanddune docker without its daemon", () => {
  for (const command of ["build-image", "remove-image"]) {
    test(`${command} says that the daemon does not answer, and how to start it`, async () => {
      const cwd = repositoryWith({ ".sanddune/Dockerfile": `FROM ${TEST_IMAGE}\n` });
      const env = { DOCKER_HOST: "unix:///no/such/docker.sock" };
      const { exitCode, stderr } = await runCli(["docker", command], { cwd, env });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
      expect(stderr).toMatch(/daemon does not answer[\s\S]*systemctl start docker/);
    });
  }
});

describeWith(["docker", "tmux"], "sanddune docker build-image at a terminal", () => {
  test("shows the step that it is at in one line, stops at Ctrl-C, and leaves the terminal as it was", async () => {
    const imageName = freshImageName("docker");
    const base = freshBase("docker");
    const from = labelledFrom("docker", base);
    const seconds = randomInt(1_000_000, 9_000_000);
    const cwd = repositoryWith({
      ".sanddune/Dockerfile": `${from}RUN : ${base}; sleep ${seconds}\n`,
    });
    const terminal = startTerminal(
      `${process.execPath} ${CLI} docker build-image --network none --image-name ${imageName}`,
      { cwd, columns: 120 },
    );
    await terminal.shows(new RegExp(`Building ${imageName} · .* · 3/4 RUN : ${base}; sleep ${seconds}`));
    expect(terminal.screen()).not.toContain("2/4 LABEL");
    terminal.press("C-c");
    expect(await terminal.ended()).toBe(130);
    expect(terminal.screen()).toContain("The build was stopped by SIGINT");
    expect(terminal.screen()).not.toContain("· 3/4 RUN");
    await until("nothing sleeps any more", () => processesWith(`sleep\0${seconds}\0`).length === 0);
    await until("its containers have gone", () => containersOfBuild("docker", base).length === 0);
  });
});

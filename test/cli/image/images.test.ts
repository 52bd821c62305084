import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sandduneWords } from "../../../src/process/ownCommand/sandduneCommand.ts";
import { builtCli } from "../../helpers/built.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { until } from "../fixtures.ts";
import { startCli } from "../startCli.ts";
import {
  containersOfBuild,
  ENGINES,
  freshBase,
  freshImageName,
  hasImage,
  inImage,
  labelledFrom,
  repositoryWith,
} from "./scenes.ts";

const OFFLINE = ["--network", "none"];

useOwnTemporaryDirectory();

/** An archive without any. */
const NO_FILES = Buffer.alloc(1024);

/** The other one is that of the test at a terminal. */
const STOPS = {
  docker: { signal: "SIGTERM", exitCode: 143 },
  podman: { signal: "SIGINT", exitCode: 130 },
} as const;

for (const { engine, fileName, fileFlag, ignoreFile } of ENGINES) {
  const build = [engine, "build-image"];
  const stop = STOPS[engine];

  describeWith([engine], `sanddune ${engine} build-image`, () => {
    test("builds the image of the config directory, again after a change, reports its name, size and duration, and keeps secrets and what runs have written out of the build context", async () => {
      const from = labelledFrom(engine, TEST_IMAGE);
      const imageName = freshImageName(engine);
      const file = (word: string) => `${from}RUN echo ${word} > /word\nCOPY . /context\n`;
      const cwd = repositoryWith({
        [`.sanddune/${fileName}`]: file("first"),
        ".sanddune/config.json": JSON.stringify({ imageName }),
        ".sanddune/.env": "KEY=value\n",
        ".sanddune/.env.local": "KEY=value\n",
        ".sanddune/tools/.env": "an example of the user's own\n",
        ".sanddune/worktrees/one/file": "",
        ".sanddune/runs/one/journal.jsonl": "",
        ".sanddune/logs/one.log": "",
        ".sanddune/setup.sh": "true\n",
      });
      const first = await runCli([...build, ...OFFLINE], { cwd });
      expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`Built ${imageName}: `) });
      expect(first.stdout).toMatch(/: \d+ MB, in [\d.]+ (s|min)/);
      expect(first.stderr).toContain("3/5 RUN echo first > /word");

      writeFileSync(join(cwd, ".sanddune", fileName), file("second"));
      const again = await runCli([...build, ...OFFLINE, "--json"], { cwd });
      expect(JSON.parse(again.stdout)).toEqual({
        imageName,
        sizeBytes: expect.any(Number),
        durationMs: expect.any(Number),
      });
      const [word, ...files] = inImage(
        engine,
        imageName,
        "cat /word; cd /context && find . -type f | sort",
      ).split("\n");
      expect(word).toBe("second");
      expect(files).toEqual([`./${fileName}`, "./config.json", "./setup.sh", "./tools/.env"].sort());
    });

    test("builds from a file of the user, with the current directory as the build context, which needs to be no repository", async () => {
      const imageName = freshImageName(engine);
      const cwd = temporaryDirectory();
      writeFiles(cwd, {
        "ci/image": `FROM ${TEST_IMAGE}\nARG WORD=none\nCOPY . /context\nRUN echo $WORD-${imageName} | tee /word\n`,
        "here.txt": "here",
        ".sanddune/.env": "KEY=value\n",
        [ignoreFile]: "# ours\n/.sanddune/\n",
      });
      const flags = [fileFlag, "ci/image", "--image-name", imageName, "--build-arg", "WORD=given"];
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, ...flags, "--verbose"], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(stderr.split("\n")).toContain(`given-${imageName}`);
      expect(
        inImage(engine, imageName, "cat /word; cd /context && find . -type f | sort").split("\n"),
      ).toEqual([`given-${imageName}`, `./${ignoreFile}`, "./ci/image", "./here.txt"]);
    });

    test("refuses to build where the current directory has secrets that no ignore file keeps out", async () => {
      const imageName = freshImageName(engine);
      const cwd = repositoryWith({ image: `FROM ${TEST_IMAGE}\n`, ".sanddune/.env": "KEY=value\n" });
      const flags = [fileFlag, "image", "--image-name", imageName];
      const { exitCode, stderr } = await runCli([...build, ...OFFLINE, ...flags], { cwd });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining(`echo .sanddune >> ${join(cwd, ignoreFile)}`),
      });
      expect(hasImage(engine, imageName)).toBe(false);
    });

    test("shows the step that failed with the end of its output, how to try again without values, and leaves nothing but the older image", async () => {
      const imageName = freshBase(engine);
      const base = freshBase(engine);
      const from = labelledFrom(engine, base);
      const cwd = repositoryWith({
        "ci/image": `${from}ARG WORD\nRUN echo all is well\nRUN printf 'no \\033]0;title\\007luck' >&2; : ${base}; exit 3\nRUN echo never\n`,
      });
      const flags = [
        ...["--image-name", imageName, "--cwd", cwd, fileFlag, join(cwd, "ci/image")],
        ...["--build-arg", "WORD=two words", ...OFFLINE],
      ];
      const { exitCode, stdout, stderr } = await runCli([...build, ...flags, "--json"], {
        cwd: temporaryDirectory(),
      });
      expect(exitCode).toBe(1);
      const told = flags.map((flag) => (flag === "WORD=two words" ? "WORD=…" : flag));
      expect(JSON.parse(stdout).error).toMatchObject({
        name: "ImageBuildError",
        engine,
        imageName,
        step: expect.stringMatching(/^\d\/\d RUN printf .*exit 3$/),
        output: expect.stringContaining("luck"),
        retryCommand: sandduneWords(...build, ...told, "--verbose"),
      });
      expect(stderr).toMatch(/step \d\/\d RUN printf .*exit 3 failed/);
      const shown = stderr.slice(stderr.indexOf("error:"));
      expect(shown).toContain("luck");
      expect(shown).not.toContain("all is well");
      expect(shown).not.toContain("\u001b");
      expect(shown).toMatch(new RegExp(`\n  .*sanddune ${engine} build-image --image-name ${imageName} `));
      expect(hasImage(engine, imageName)).toBe(true);
      expect(containersOfBuild(engine, base)).toEqual([]);
    });

    test(`${stop.signal} stops the build with all that it has started, and exits with ${stop.exitCode}`, async () => {
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
      child.kill(stop.signal);
      const { exitCode, stderr } = await result;
      expect({ exitCode, stderr }).toMatchObject({ exitCode: stop.exitCode });
      expect(stderr).toContain(`The build was stopped by ${stop.signal}`);
      await until("nothing sleeps any more", () => processesWith(mark).length === 0);
      await until("its containers have gone", () => containersOfBuild(engine, base).length === 0);
      expect(hasImage(engine, imageName)).toBe(false);
    });

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

    test("does not suggest init after init has run", async () => {
      const cwd = repositoryWith({ ".sanddune/config.json": '{ "sandbox": "bubblewrap" }' });
      const { exitCode, stderr } = await runCli(build, { cwd });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining(`${fileFlag} FILE`),
      });
      expect(stderr).toContain(`Write one to ${join(cwd, ".sanddune", fileName)}`);
      expect(stderr).not.toContain("sanddune init");
    });

    test("refuses a malformed build argument", async () => {
      const refused = await runCli([...build, "--build-arg", "=1"], { cwd: repositoryWith({}) });
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("KEY=VALUE") });
    });
  });

  describeWith([engine], `sanddune ${engine} remove-image`, () => {
    const remove = (cwd: string, imageName: string, ...more: string[]) =>
      runCli([engine, "remove-image", "--image-name", imageName, ...more], { cwd });

    test("removes the name, and no other name of the same image; it needs no repository", async () => {
      const [imageName, other] = [freshBase(engine), freshImageName(engine)];
      execFileSync(engine, ["tag", imageName, other]);
      const { exitCode, stdout } = await remove(temporaryDirectory(), imageName);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Removed ${imageName}\n` });
      expect([imageName, other].map((name) => hasImage(engine, name))).toEqual([false, true]);
    });

    test("lists the images when none has that name, not even by its id", async () => {
      const other = freshBase(engine);
      const id = execFileSync(engine, ["image", "inspect", "--format", "{{.Id}}", other], {
        encoding: "utf8",
      });
      for (const name of ["sanddune:no-such", id.trim().replace("sha256:", "").slice(0, 12)]) {
        const { exitCode, stderr } = await remove(temporaryDirectory(), name);
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(other) });
      }
      expect(hasImage(engine, other)).toBe(true);
    });

    test("keeps an image that a container uses: it says whose the container is, with the next command, and has nothing removed by force", async () => {
      const imageName = freshImageName(engine);
      execFileSync(engine, ["import", "-", imageName], {
        input: NO_FILES,
        stdio: ["pipe", "ignore", "pipe"],
      });
      const runId = `20260102-030405-${randomBytes(3).toString("hex")}`;
      for (const [name, next] of [
        [`sanddune-${runId}`, `sanddune stop ${runId}`],
        [`other-${randomInt(1_000_000)}`, `${engine} ps --all`],
      ] as const) {
        execFileSync(engine, ["create", "--name", name, imageName, "true"]);
        onTestFinished(() => void spawnSync(engine, ["rm", "--force", name]));
        const { exitCode, stdout, stderr } = await remove(temporaryDirectory(), imageName, "--json");
        expect(exitCode).toBe(1);
        expect(JSON.parse(stdout).error).toMatchObject({ name: "ImageInUseError", containers: [name] });
        const again = `sanddune ${engine} remove-image --image-name ${imageName}`;
        expect(stderr).toMatch(new RegExp(`Next:\n  .*${next}\n  .*${again}\n`));
        expect(stderr).not.toContain("--force");
        expect(hasImage(engine, imageName)).toBe(true);
        execFileSync(engine, ["rm", name]);
      }
    });
  });

  for (const command of ["build-image", "remove-image"]) {
    test(`sanddune ${engine} ${command} refuses what is no name for an image before anything else`, async () => {
      const problem = '"-x" is no name for an image';
      const cwd = repositoryWith({ ".sanddune/config.json": '{ "imageName": "-x" }' });
      for (const [flags, place] of [
        [["--image-name=-x"], "--image-name"],
        [[], "imageName"],
      ] as const) {
        const { exitCode, stderr } = await runCli([engine, command, ...flags], { cwd });
        expect({ exitCode, stderr }).toEqual({
          exitCode: 2,
          stderr: expect.stringContaining(`${place}: ${problem}`),
        });
      }
    });
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

describeWith(["podman"], "sanddune podman build-image where nothing is said", () => {
  test("names the image after the repository's directory, and builds from a Dockerfile", async () => {
    const cwd = repositoryWith({ ".sanddune/Dockerfile": `FROM ${TEST_IMAGE}\n` });
    const imageName = `sanddune:${basename(cwd).toLowerCase()}`;
    onTestFinished(() => void execFileSync("podman", ["image", "rm", imageName]));
    const { exitCode, stderr } = await runCli(["podman", "build-image", ...OFFLINE], { cwd });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(hasImage("podman", imageName)).toBe(true);
  });
});

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
      `${process.execPath} ${builtCli()} docker build-image --network none --image-name ${imageName}`,
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

describeWith(["podman"], "sanddune podman remove-image", () => {
  test("asks again if another process has removed an image while Podman listed them", async () => {
    const imageName = freshBase("podman");
    const directory = temporaryDirectory();
    const real = execFileSync("sh", ["-c", "command -v podman"], { encoding: "utf8" }).trim();
    const answer =
      'Error: retrieving label for image "0f1e": you may need to remove the image to resolve the error: ' +
      'reading image "0f1e": locating image with ID "0f1e": image not known';
    writeFileSync(
      join(directory, "podman"),
      `#!/bin/sh\nif [ "$1 $2" = "image ls" ] && mkdir '${directory}/asked' 2>/dev/null; then\n  echo '${answer}' >&2\n  exit 125\nfi\nexec '${real}' "$@"\n`,
      { mode: 0o755 },
    );
    const { exitCode, stdout } = await runCli(["podman", "remove-image", "--image-name", imageName], {
      cwd: directory,
      env: { PATH: `${directory}:${process.env["PATH"]}` },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Removed ${imageName}\n` });
    expect(existsSync(join(directory, "asked"))).toBe(true);
  });
});

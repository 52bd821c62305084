import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { ProjectRefusedError } from "../../../src/scenarios/sandbox/projectRefused.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCommand, type Scene, scenarioScene } from "../../helpers/scenarioScene.ts";
import { handmadeArchive } from "../../scenarios/tar/archives.ts";

useOwnTemporaryDirectory();

const SUITE = {
  "bin/tool.sh": `printf 'tool %s in %s' "$1" "$PWD"; echo made >made-by-tool`,
  "secret-spec.md": "the grading",
  ".sanddune/.env": "KEY=do-not-show",
  ".git/config": "token = do-not-show",
  "bin/other/.sanddune/.env": "KEY=do-not-show",
  ".env": "KEY=do-not-show",
  "bin/.env.local": "KEY=do-not-show",
  "bin/.env.example": "KEY=",
  ".npmrc": "token=do-not-show",
};

const TIGHT: readonly [Runtime, () => SandboxProvider][] = [
  ["bubblewrap", () => bubblewrap()],
  ["docker", () => docker({ imageName: TEST_IMAGE, network: "none" })],
  ["podman", () => podman({ imageName: TEST_IMAGE, network: "none" })],
];

/** Lets something run in the agent's place, as an agent would. */
const asAgent = async ({ scenarioSandbox, signal }: Scene, command: string) => {
  const place = await scenarioSandbox.openForAgent(signal);
  try {
    return await place.handle.exec(command, { cwd: place.projectRoot });
  } finally {
    await place.close();
  }
};

/** Goes on withRecordErrors, out of everybody's group and session. */
const DAEMON = `setsid sh -c 'while :; do echo still-here >>trace; sleep 0.05; done' >/dev/null 2>&1 </dev/null &
while ! [ -s trace ]; do sleep 0.02; done`;

/** Whether a file stays as long as it is. */
const expectQuiet = async (path: string): Promise<void> => {
  const size = statSync(path).size;
  const until = performance.now() + 300;
  await waitFor(() => statSync(path).size !== size || performance.now() > until);
  expect(statSync(path).size).toBe(size);
};

for (const [name, provider] of TIGHT) {
  describeWith([name], `places in ${name}`, () => {
    it("show an agent the project, and nothing of the suite", async () => {
      const scene = await scenarioScene(provider(), SUITE);
      const { root } = scene.suite;
      const { stdout } = await asAgent(scene, `ls -a; ls -a ${root} 2>&1; echo new >made-by-agent`);
      expect(stdout).toContain("README.md");
      expect(stdout).not.toContain("secret-spec.md");
      expect(stdout).not.toContain("tool");
      expect(readFileSync(join(scene.projectPath, "made-by-agent"), "utf8")).toBe("new\n");
    });

    it("show commands the suite, read-only and without its private files", async () => {
      const scene = await scenarioScene(provider(), SUITE);
      const { root } = scene.suite;
      const tool = await runCommand(scene, ["sh", join(root, "bin/tool.sh"), "install"]);
      expect(tool).toMatchObject({ code: 0, stdout: `tool install in ${scene.scenarioSandbox.projectRoot}` });
      expect(readFileSync(join(scene.projectPath, "made-by-tool"), "utf8")).toBe("made\n");
      const private_ = await runCommand(scene, [
        "find",
        `${root}/.sanddune`,
        `${root}/.git`,
        `${root}/bin/other/.sanddune`,
        "-mindepth",
        "1",
      ]);
      expect(private_).toMatchObject({ code: 0, stdout: "" });
      const keys = await runCommand(scene, ["grep", "-r", "do-not-show", root]);
      expect(keys).toMatchObject({ code: 1, stdout: "", stderr: "" });
      const attack = await runCommand(scene, [
        "sh",
        "-c",
        `echo x >${root}/secret-spec.md; rm -rf ${root}/bin; mkdir ${root}/new`,
      ]);
      expect(attack.code).not.toBe(0);
      expect(readFileSync(join(root, "secret-spec.md"), "utf8")).toBe("the grading");
      expect(readdirSync(root).sort()).toEqual([
        ".env",
        ".git",
        ".npmrc",
        ".sanddune",
        "bin",
        "secret-spec.md",
      ]);
      expect(existsSync(join(root, "bin/tool.sh"))).toBe(true);
    });

    it("have homes of their own: an agent's files in its home and in /tmp reach no command", async () => {
      const scene = await scenarioScene(provider(), SUITE);
      await asAgent(scene, 'echo trap >"$HOME/.profile"; echo trap >/tmp/trap');
      const { stdout } = await runCommand(scene, [
        "sh",
        "-c",
        'cat "$HOME/.profile" /tmp/trap 2>/dev/null; true',
      ]);
      expect(stdout).not.toContain("trap");
    });
  });
}

const ALL: readonly [Runtime | "the host", () => SandboxProvider | "none"][] = [
  ...TIGHT,
  ["the host", () => "none"],
  ["the host", () => testIsolated()],
];

for (const [name, provider] of ALL) {
  const runtimes: readonly Runtime[] = name === "the host" ? [] : [name];
  describeWith(
    runtimes,
    `a place of ${provider() === "none" ? "none" : (provider() as SandboxProvider).name}`,
    () => {
      it("that was closed has nothing of the agent that still runs", async () => {
        const scene = await scenarioScene(provider());
        expect((await asAgent(scene, DAEMON)).exitCode).toBe(0);
        await expectQuiet(join(scene.projectPath, "trace"));
      });

      it("runs programs, not commands of a shell, and says 127 for a missing one, 124 for one that takes too long", async () => {
        const scene = await scenarioScene(provider());
        const place = await scene.scenarioSandbox.openForCommands(scene.signal);
        const run = (argv: string[], timeoutMs = 30_000) =>
          place.run({ argv, timeoutMs, signal: scene.signal });
        expect(await run(["printf", "%s|", "$HOME", "a b", "it's", ""])).toMatchObject({
          code: 0,
          stdout: "$HOME|a b|it's||",
        });
        expect((await run(["sh", "-c", "exit 7"])).code).toBe(7);
        expect((await run(["exit", "0"])).code).toBe(127);
        expect((await run(["no-such-program"])).code).toBe(127);
        const late = await run(["sh", "-c", "echo before; sleep 60"], 1000);
        expect(late.code).toBe(124);
        await place.close();
        await place.close();
      });
    },
  );
}

describe("an isolated sandbox", () => {
  it("copies out new, changed and deleted files, and copies the suite in without its private files", async () => {
    const scene = await scenarioScene(testIsolated(), SUITE);
    writeFileSync(join(scene.projectPath, "old"), "old");
    const { scenarioSandbox, suite, projectPath } = scene;
    const script = `rm old; echo more >>README.md; mkdir -p a/b; echo x >a/b/c; ln -s /nowhere link; cd "$(dirname "$1")/.." && find . | sort >"$OLDPWD/listing"`;
    const tool = join(suite.root, "bin/tool.sh");
    expect((await runCommand(scene, ["sh", "-c", script, "sh", tool])).code).toBe(0);
    expect(readdirSync(projectPath).sort()).toEqual(["README.md", "a", "link", "listing"]);
    expect(readFileSync(join(projectPath, "README.md"), "utf8")).toBe("# Fixture\nmore\n");
    expect(readFileSync(join(projectPath, "listing"), "utf8").split("\n")).toEqual([
      ".",
      "./bin",
      "./bin/.env.example",
      "./bin/other",
      "./bin/tool.sh",
      "./secret-spec.md",
      "",
    ]);
    const { stdout } = await runCommand(scene, ["ls", scenarioSandbox.projectRoot]);
    expect(stdout).toBe("README.md\na\nlink\nlisting\n");
  });

  it.each([
    ["a path upwards", handmadeArchive({ path: "../README.md", content: "mine" })],
    [
      "a file below a link",
      handmadeArchive({ path: "a", type: "2", target: ".." }, { path: "a/b", content: "mine" }),
    ],
    ["a device", handmadeArchive({ path: "a", type: "3" })],
    ["no end", handmadeArchive({ path: "a", content: "mine" }).subarray(0, 512)],
  ])("that sends back an archive with %s is refused, and the project stays as it was", async (_, archive) => {
    const programs = temporaryDirectory();
    writeFileSync(join(programs, "hostile.tar"), archive);
    writeFileSync(join(programs, "tar"), `#!/bin/sh\ncat ${programs}/hostile.tar\n`);
    chmodSync(join(programs, "tar"), 0o755);
    vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const scene = await scenarioScene(testIsolated());
    const error = await asAgent(scene, "echo mine >new").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandboxError);
    expect(error).toMatchObject({ problem: expect.stringContaining("the project is refused: ") });
    expect(readdirSync(scene.projectPath)).toEqual(["README.md"]);
    expect(readdirSync(join(scene.projectPath, "..")).filter((name) => name.startsWith("sanddune-"))).toEqual(
      [],
    );
  });

  it("whose project was replaced by a file is refused, and the project stays as it was", async () => {
    const scene = await scenarioScene(testIsolated());
    const error = await asAgent(scene, 'rm -rf "$PWD" && echo mine >"$PWD"').catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ProjectRefusedError);
    expect(readdirSync(scene.projectPath)).toEqual(["README.md"]);
  });

  it("whose project was removed copies back an empty one", async () => {
    const scene = await scenarioScene(testIsolated());
    mkdirSync(join(scene.projectPath, "a"));
    await asAgent(scene, 'rm -rf "$PWD"');
    expect(readdirSync(scene.projectPath)).toEqual([]);
  });
});

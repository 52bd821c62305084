import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { checkAssertions } from "../../../src/scenarios/grading/checkAssertions.ts";
import { rememberHelpers } from "../../../src/scenarios/grading/helperFiles.ts";
import { ProjectFiles } from "../../../src/scenarios/project/projectFiles.ts";
import type { Assertion } from "../../../src/scenarios/spec.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { type Scene, scenarioScene } from "../../helpers/scenarioScene.ts";

useOwnTemporaryDirectory();

const RUNTIMES: readonly [Runtime, () => SandboxProvider][] = [
  ["bubblewrap", () => bubblewrap()],
  ["docker", () => docker({ imageName: TEST_IMAGE, network: "none" })],
];

const grade = async ({ scenarioSandbox, signal, projectPath }: Scene, assertions: readonly Assertion[]) => {
  const commandRunner = await scenarioSandbox.openForCommands(signal);
  try {
    const files = new ProjectFiles(projectPath);
    const [redact, prepare] = [(text: string) => text, async () => {}];
    return await checkAssertions(assertions, {
      files,
      commandRunner: { ...commandRunner, settle: async () => {} },
      redact,
      prepare,
      timeoutMs: 30_000,
      signal,
    });
  } finally {
    await commandRunner.close();
  }
};

for (const [name, provider] of RUNTIMES) {
  describeWith([name], `grading in ${name}`, () => {
    it("knows a clean repository, a missing program and a failing one", async () => {
      const scene = await scenarioScene(provider());
      git(scene.projectPath, "init", "--quiet");
      writeFileSync(join(scene.projectPath, ".gitignore"), "README.md\n.gitignore\n");
      const found = await grade(scene, [
        { git_clean: true },
        { git_clean: false },
        { cmd_zero: ["test", "-f", "README.md"] },
        { cmd_nonzero: ["test", "-f", "none"] },
        { cmd_nonzero: ["no-such-program"] },
        { cmd_zero: ["touch", "new.txt"] },
        { git_clean: false },
      ]);
      expect(found.map(({ ok }) => ok)).toEqual([true, false, true, true, false, true, true]);
      expect(found[4]?.detail).toContain('"no-such-program" was not found');
      expect(found[6]?.detail).toBe("not clean: ?? new.txt");
    });

    it("is not misled by an agent's changes of the project", async () => {
      const scene = await scenarioScene(provider());
      const { projectPath, scenarioSandbox, signal } = scene;
      const outside = temporaryDirectory();
      writeFileSync(join(outside, "done.txt"), "done");
      mkdirSync(join(projectPath, "tests"));
      writeFileSync(join(projectPath, "tests/check.sh"), "exit 1\n");
      const helpers = { runnable: "agent", helpers: ["tests/check.sh"] } as const;
      const restore = await rememberHelpers(helpers, [], new ProjectFiles(projectPath));

      const place = await scenarioSandbox.openForAgent(signal);
      const { exitCode } = await place.handle.exec(
        `rm -r tests && ln -s '${outside}' tests && ln -s '${outside}/done.txt' done.txt && mkfifo pipe &&
git init --quiet && git config core.fsmonitor 'touch ${outside}/canary'`,
        { cwd: place.projectRoot },
      );
      await place.close();
      expect(exitCode).toBe(0);

      expect(await restore()).toEqual(["tests/check.sh"]);
      const found = await grade(scene, [
        { cmd_zero: ["sh", "tests/check.sh"] },
        { file_exists: "done.txt" },
        { file_contains: { path: "pipe", substr: "" } },
        { git_clean: true },
      ]);
      expect(found.map(({ ok, detail }) => [ok, detail])).toEqual([
        [false, "exit code 1"],
        [false, "it leads outside"],
        [false, "it is not a regular file"],
        [false, expect.stringMatching(/^not clean/)],
      ]);
      expect(readFileSync(join(outside, "done.txt"), "utf8")).toBe("done");
      expect(existsSync(join(outside, "check.sh"))).toBe(false);
      expect(existsSync(join(outside, "canary"))).toBe(false);
    });
  });
}

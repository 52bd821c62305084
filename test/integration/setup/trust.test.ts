import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { docker } from "../../../src/sandboxes/docker.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { drafts, imagesOf, kept, ranTimes, setupHook, setupScene } from "./scene.ts";

describeWith(["docker"], "a kept set-up of a container", () => {
  it("has no value of an env var that the hooks could read, neither in its image nor in its files", async () => {
    const { cwd, count, run } = setupScene();
    const secret = "hunter2-hunter2-hunter2";
    const sandbox = docker({
      imageName: TEST_IMAGE,
      mounts: count.mounts,
      env: { OTHER: `${secret}-other` },
    });
    const after = 'test -n "$TOKEN" && test -n "$OTHER"';
    await run({ sandbox, env: { TOKEN: secret }, hooks: setupHook(count, { after }) });
    const [path = ""] = kept(cwd);
    const [image = ""] = imagesOf(cwd);
    const said = [
      execFileSync("docker", ["image", "inspect", image], { encoding: "utf8" }),
      execFileSync("docker", ["history", "--no-trunc", image], { encoding: "utf8" }),
      readFileSync(join(path, "setup.json"), "utf8"),
    ];
    expect(said[2]).toContain('"TOKEN"');
    expect(said.join("")).not.toContain(secret);
    expect(spawnSync("grep", ["-r", "-l", secret, path], { encoding: "utf8" }).stdout).toBe("");
  });
});

describeWith(["bubblewrap"], "a kept set-up is not used", () => {
  it("if the user has deleted all directories of a name, and a new one replaces it", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    execFileSync("find", [cwd, "-name", "node_modules", "-prune", "-exec", "rm", "-r", "{}", "+"]);
    await run();
    await run();
    expect(ranTimes(count)).toBe(2);
    expect([kept(cwd).length, drafts(cwd)]).toEqual([1, []]);
  });
});

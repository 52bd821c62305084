import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { inImage } from "./scenes.ts";

const IMAGE = `sanddune:${randomBytes(4).toString("hex")}`;

/** Steps that fetch something which is no package of Debian's. */
const DOWNLOAD = /^RUN (?:.*\\\n)*.*(?:https:|"\$GH_PACKAGES).*\n(?:.*\\\n)*.*\n/gm;

/** As far as it can be built without a registry and without the rest of the net: its packages are resolved, and not installed. */
const offline = (text: string): string =>
  text.replaceAll(DOWNLOAD, "").replaceAll("install --yes", "install --simulate --yes");

describeWith(["docker"], "the Dockerfile with the base ubuntu, in docker,", () => {
  afterAll(() => {
    spawnSync("docker", ["image", "rm", "--force", IMAGE]);
  });

  test("is built as far as it can be offline: packages, environment and user", async () => {
    const cwd = temporaryRepository();
    const answers = [
      "--agent-command",
      "true",
      "--sandbox",
      "docker",
      "--base",
      "ubuntu",
      "--no-build",
      "--yes",
    ];
    const made = await runCli(["init", ...answers, "--image-name", IMAGE], { cwd });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(cwd, ".sanddune/config.json"), "utf8")).not.toContain("base");
    const file = join(cwd, ".sanddune/Dockerfile");
    const text = readFileSync(file, "utf8");
    expect(text.match(DOWNLOAD)).toHaveLength(3);
    writeFileSync(file, offline(text));
    const flags = ["--network", "host", "--build-arg", `BASE_IMAGE=${TEST_IMAGE}`];
    const built = await runCli(["docker", "build-image", ...flags], { cwd });
    expect({ exitCode: built.exitCode, stderr: built.stderr }).toMatchObject({ exitCode: 0 });
    expect(inImage("docker", IMAGE, "id -un; pwd; echo $CARGO_HOME; echo $PATH", "agent")).toMatch(
      /^agent\n\/home\/agent\n\/usr\/local\/cargo\n\/usr\/local\/cargo\/bin:/,
    );
  }, 180_000);
});

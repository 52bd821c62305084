import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { RUN_ID } from "../../helpers/repository/runId.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

export type Engine = "docker" | "podman";

export const ENGINES = [
  { engine: "docker", fileName: "Dockerfile", fileFlag: "--dockerfile", ignoreFile: ".dockerignore" },
  {
    engine: "podman",
    fileName: "Containerfile",
    fileFlag: "--containerfile",
    ignoreFile: ".containerignore",
  },
] as const;

/** A name that no image has. What gets it is gone after the test. */
export const freshImageName = (engine: Engine): string => {
  const name = `sanddune:test-${RUN_ID}-${randomBytes(4).toString("hex")}`;
  onTestFinished(() => {
    spawnSync(engine, ["image", "rm", "--force", name]);
  });
  return name;
};

/** A repository with these files in it, none of them committed. */
export const repositoryWith = (files: Readonly<Record<string, string>>): string => {
  const path = temporaryRepository();
  writeFiles(path, files);
  return path;
};

/** What a command prints in a container of the image. */
export const inImage = (engine: Engine, image: string, command: string, user = "0:0"): string =>
  execFileSync(
    engine,
    ["run", "--rm", "--network", "none", "--user", user, "--entrypoint", "sh", image, "-c", command],
    { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  ).trim();

export const hasImage = (engine: Engine, image: string): boolean =>
  spawnSync(engine, ["image", "inspect", image]).status === 0;

/** The first lines of a file to build from. Layers of builds that came to nothing have no name: these go by the label. */
export const labelledFrom = (engine: Engine, base: string): string => {
  const label = `sanddune.test=${randomBytes(4).toString("hex")}`;
  onTestFinished(() => {
    spawnSync(engine, ["image", "prune", "--force", "--filter", `label=${label}`]);
  });
  return `FROM ${base}\nLABEL ${label}\n`;
};

/**
 * An image like the test image, with a fresh name. A build that begins with the name, and repeats it, can be told from
 * all others. The test image itself has no names of tests: Podman loses one if another process names the image, too.
 */
export const freshBase = (engine: Engine): string => {
  const name = freshImageName(engine);
  execFileSync(engine, ["build", "--quiet", "--tag", name, "-"], {
    input: `FROM ${TEST_IMAGE}\nLABEL sanddune.test=${name}\n`,
  });
  return name;
};

/** The containers of builds on that base, also those that have only Podman's storage. */
export const containersOfBuild = (engine: Engine, base: string): string[] => {
  const all = ["--all", "--no-trunc", ...(engine === "podman" ? ["--external"] : [])];
  const listed = execFileSync(engine, ["ps", ...all, "--format", "{{.Image}} {{.Command}}"], {
    encoding: "utf8",
  });
  return listed.split("\n").filter((line) => line.includes(base));
};

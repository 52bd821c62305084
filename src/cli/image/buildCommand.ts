import { Command } from "commander";
import { collect } from "../run/runValues.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { performing } from "../shared/performing.ts";
import type { BuildFlags, Engine } from "./target.ts";

const build = (engine: Engine) =>
  performing(async (flags: BuildFlags) => {
    const { performBuild } = await import("./performBuild.ts");
    await performBuild(engine, flags);
  });

/** `sanddune docker build-image` and `sanddune podman build-image`. */
export const createBuildImageCommand = (engine: Engine): Command => {
  const fileName = engine === "docker" ? "Dockerfile" : "Containerfile";
  const fileFlag = `--${fileName.toLowerCase()}`;
  return withExamples(
    new Command("build-image")
      .description(`Builds the image of this repository's sandboxes from .sanddune/${fileName}.`)
      .option(...CWD_FLAG)
      .option(
        "--image-name <name>",
        "name of the image (default: imageName of .sanddune/config.json, or sanddune:<name of the repository's directory>)",
      )
      .option(
        `${fileFlag} <file>`,
        "build from this file instead, with the current directory as the build context",
      )
      .option("--build-arg <key=value>", "set an ARG of the file (repeatable)", collect)
      .option("--network <name>", "network of the build commands, e.g. `host`")
      .option("--verbose", "show all output of the build")
      .option("--json", "print the result as one JSON object"),
    { title: "Build the image after a change", command: `sanddune ${engine} build-image` },
    {
      title: "Build another file, with another name",
      command: `sanddune ${engine} build-image ${fileFlag} ci/${fileName} \\\n--image-name sanddune:trial`,
    },
    {
      title: "Use your own base image",
      command: `sanddune ${engine} build-image --build-arg BASE_IMAGE=my-node:22`,
    },
  ).action(build(engine));
};

import { Command } from "commander";
import { showDuration } from "../../display/duration.ts";
import { buildImage, checkBuildFile } from "../../images/buildImage.ts";
import { imageSize } from "../../images/images.ts";
import { collect } from "../run/runValues.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { UsageError } from "../shared/usageError.ts";
import { showBuildProgress } from "./progress.ts";
import { type BuildFlags, type Engine, findBuildTarget } from "./target.ts";

const STOPPED_BUILD = {
  subject: "The build",
  kept: "An older image of that name still exists.",
  tidying: "stopping the build",
};

const checkBuildArgs = (buildArgs: readonly string[]): void => {
  const bad = buildArgs.find((argument) => !/^[A-Za-z_]\w*(=|$)/.test(argument));
  if (bad !== undefined) throw new UsageError(`--build-arg ${JSON.stringify(bad)}: write KEY=VALUE`);
};

const build = (engine: Engine) =>
  performing(async (flags: BuildFlags) => {
    const { buildArg: buildArgs = [], network, json, verbose = false } = flags;
    checkBuildArgs(buildArgs);
    const target = await findBuildTarget(engine, flags);
    const { imageName } = target;
    await checkBuildFile({ engine, ...target });
    await tell(`Building ${imageName} from ${target.file} with ${engine} …`);
    const startedAt = performance.now();
    {
      using stop = stopOnSignals(STOPPED_BUILD);
      using progress = showBuildProgress(imageName, { verbose });
      await buildImage({ engine, ...target, buildArgs, network, ...progress, signal: stop.signal });
    }
    const durationMs = Math.round(performance.now() - startedAt);
    const sizeBytes = await imageSize(engine, imageName);
    if (json) await printJson({ imageName, sizeBytes, durationMs });
    else {
      const size = `${Math.round(sizeBytes / 1e6)} MB`;
      await print(`Built ${imageName}: ${size}, in ${showDuration(durationMs)}`);
    }
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

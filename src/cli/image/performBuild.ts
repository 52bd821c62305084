import { showDuration } from "../../display/duration.ts";
import { buildImage, checkBuildFile } from "../../images/buildImage.ts";
import { imageSize } from "../../images/images.ts";
import { print, printJson, tell } from "../shared/output.ts";
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

/** Builds the image, and reports its size. */
export const performBuild = async (engine: Engine, flags: BuildFlags): Promise<void> => {
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
};

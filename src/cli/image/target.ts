import { resolve } from "node:path";
import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { findBuildFile } from "../../images/buildFile.ts";
import { checkImageName } from "../../images/imageNames.ts";
import { checkIsOwnImage } from "../../images/images.ts";
import { findProject, type Project } from "../../project/findProject.ts";
import { defaultImage } from "../../sandboxes/containers/arguments.ts";
import { UsageError } from "../shared/usageError.ts";

export type Engine = "docker" | "podman";

/** The flags of every image command. */
export interface ImageFlags {
  readonly cwd?: string;
  readonly imageName?: string;
  readonly json?: boolean;
}

export interface BuildFlags extends ImageFlags {
  readonly dockerfile?: string;
  readonly containerfile?: string;
  readonly buildArg?: string[];
  readonly network?: string;
  readonly verbose?: boolean;
}

const checked = (name: string, refuse: (problem: string) => Error): string => {
  const problem = checkImageName(name);
  if (problem !== undefined) throw refuse(problem);
  return name;
};

const configuredName = ({ config, configPath, topLevel }: Project): string =>
  checked(
    config.imageName ?? defaultImage(topLevel),
    (problem) => new ProjectConfigError(configPath, `imageName: ${problem}`),
  );

/**
 * The image of the flag, of the project config, or the default one. Only the flag can name an image that sanddune did not
 * build, because the commands replace or remove it.
 */
export const findImageName = async (engine: Engine, { imageName, cwd }: ImageFlags): Promise<string> => {
  if (imageName !== undefined) {
    return checked(imageName, (problem) => new UsageError(`--image-name: ${problem}`));
  }
  const configured = configuredName(await findProject(cwd));
  await checkIsOwnImage(engine, configured);
  return configured;
};

/** The image to build and its build context: the config directory, or the user's file with the current directory. */
export const findBuildTarget = async (engine: Engine, flags: BuildFlags) => {
  const imageName = await findImageName(engine, flags);
  const file = flags.dockerfile ?? flags.containerfile;
  if (file !== undefined) {
    return { imageName, file: resolve(file), contextDirectory: resolve(flags.cwd ?? ".") };
  }
  const { configDirectory } = await findProject(flags.cwd);
  return { imageName, file: findBuildFile(engine, configDirectory), contextDirectory: configDirectory };
};

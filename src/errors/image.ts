import { sandduneCommand, sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { block, nextCommands, sentences } from "./text.ts";

/** The build context does not exist, or contains files that must not get into an image. Nothing was built. */
export class BuildContextError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`Cannot build an image from ${path}: ${problem}.`, hint));
  }
}

/** The engine could not build the image. An older image of that name still exists. */
export class ImageBuildError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
    /** The step that failed, e.g. `3/9 RUN npm install`; `undefined` if the build failed before the first one. */
    readonly step: string | undefined,
    /** The end of the engine's output. */
    readonly output: string,
    /** The command that tries again: a program with its arguments. */
    readonly retryCommand: readonly string[],
  ) {
    super(
      sentences(
        `The image ${imageName} could not be built with ${engine}:`,
        step === undefined ? "it failed before the first step." : `step ${step} failed.`,
      ) +
        block("The end of its output", output) +
        nextCommands([retryCommand]),
    );
  }
}

/** An image that a config file names was not built by sanddune, so it is neither replaced nor removed. */
export class ForeignImageError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
  ) {
    super(
      `The image ${imageName} was not built by sanddune, so it was not changed. To use this image anyway: --image-name ${imageName}`,
    );
  }
}

/** There is no image of that name to remove. */
export class ImageNotFoundError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
    /** The images that sanddune has built with that engine. */
    readonly existing: readonly string[],
  ) {
    super(
      sentences(
        `${engine} has no image ${imageName}.`,
        existing.length === 0
          ? "sanddune has built no image with it."
          : `Expected one of: ${existing.join(", ")}.`,
      ),
    );
  }
}

/** The name that a run gives to its container. */
const CONTAINER_OF_RUN = /^sanddune-(\d{8}-\d{6}-[0-9a-f]{6})(-recovery|-tests(-\d+)?)?$/;

/** The image still exists, because containers use it. */
export class ImageInUseError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
    readonly containers: readonly string[],
  ) {
    const runIds = [...new Set(containers.flatMap((name) => CONTAINER_OF_RUN.exec(name)?.[1] ?? []))];
    const others = containers.filter((name) => !CONTAINER_OF_RUN.test(name));
    super(
      sentences(
        `The image ${imageName} was kept: it is in use by ${containers.join(", ") || "a container"}.`,
        runIds.length > 0 &&
          `Wait until these runs end, or stop them in their repositories. Leftovers of dead runs are removed with: ${sandduneCommand("clean")}.`,
        others.length > 0 &&
          `No run of sanddune created ${others.join(", ")}: remove it yourself if you do not need it.`,
      ) +
        nextCommands([
          runIds.length > 0 ? sandduneWords("stop", ...runIds) : [engine, "ps", "--all"],
          sandduneWords(engine, "remove-image", "--image-name", imageName),
        ]),
    );
  }
}

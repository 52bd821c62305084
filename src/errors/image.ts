import { sandduneCommand, sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { block, nextCommands, sentences } from "./text.ts";

/** What an image is to be built from is not there, or holds what must not get into an image. Nothing was built. */
export class BuildContextError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`No image can be built from ${path}: ${problem}.`, hint));
  }
}

/** The engine could not build the image. An older image of that name is still there. */
export class ImageBuildError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
    /** The step that failed, e.g. `3/9 RUN npm install`; `undefined` if the build did not come to one. */
    readonly step: string | undefined,
    /** The end of what the engine printed. */
    readonly output: string,
    /** What to type to try again: a program with its arguments. */
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

/** An image that a config file names was not built by sanddune: it is neither replaced nor removed. */
export class ForeignImageError extends SandduneError {
  constructor(
    readonly engine: "docker" | "podman",
    readonly imageName: string,
  ) {
    super(
      `sanddune has not built the image ${imageName}: it was left alone. If it is the one that you mean, say so with: --image-name ${imageName}`,
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
        existing.length === 0 ? "It has none of sanddune's at all." : `It has: ${existing.join(", ")}.`,
      ),
    );
  }
}

/** The name that a run gives to its container. */
const CONTAINER_OF_RUN = /^sanddune-(\d{8}-\d{6}-[0-9a-f]{6})(-recovery|-tests(-\d+)?)?$/;

/** The image is still there, because containers were made from it. */
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
          `Let these runs end, or stop them in their repositories; what a dead run has left goes with ${sandduneCommand("clean")}.`,
        others.length > 0 &&
          `sanddune did not make ${others.join(", ")} for a run: whether that can go is yours to say.`,
      ) +
        nextCommands([
          runIds.length > 0 ? sandduneWords("stop", ...runIds) : [engine, "ps", "--all"],
          sandduneWords(engine, "remove-image", "--image-name", imageName),
        ]),
    );
  }
}

import { Command } from "commander";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { performing } from "../shared/performing.ts";
import { createBuildImageCommand } from "./buildCommand.ts";
import type { Engine, ImageFlags } from "./target.ts";

const remove = (engine: Engine) =>
  performing(async (flags: ImageFlags) => {
    const { performRemove } = await import("./performRemove.ts");
    await performRemove(engine, flags);
  });

const createRemoveImageCommand = (engine: Engine): Command =>
  withExamples(
    new Command("remove-image")
      .description("Removes the image of this repository's sandboxes.")
      .option(...CWD_FLAG)
      .option(
        "--image-name <name>",
        "name of the image (default: imageName of .sanddune/config.json, or sanddune:<name of the repository's directory>)",
      )
      .option("--json", "print the result as one JSON object"),
    { title: "Free the disk space", command: `sanddune ${engine} remove-image` },
    {
      title: "Remove another image",
      command: `sanddune ${engine} remove-image --image-name sanddune:trial`,
    },
  ).action(remove(engine));

const createEngineCommand = (engine: Engine, title: string): Command =>
  withExamples(
    new Command(engine)
      .description(`Builds and removes the image of this repository's ${title} sandboxes.`)
      .addCommand(createBuildImageCommand(engine))
      .addCommand(createRemoveImageCommand(engine)),
    { title: "Build the image", command: `sanddune ${engine} build-image` },
    { title: "Remove it", command: `sanddune ${engine} remove-image` },
  );

/** `sanddune docker …`. */
export const createDockerCommand = (): Command => createEngineCommand("docker", "Docker");

/** `sanddune podman …`. */
export const createPodmanCommand = (): Command => createEngineCommand("podman", "Podman");

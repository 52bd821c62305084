import { existsSync } from "node:fs";
import { join } from "node:path";

/** The file of a config directory that its image is built from: the one that is there, or else the one to make. */
export const findBuildFile = (engine: "docker" | "podman", configDirectory: string): string => {
  const dockerfile = join(configDirectory, "Dockerfile");
  if (engine === "docker") return dockerfile;
  const containerfile = join(configDirectory, "Containerfile");
  return existsSync(dockerfile) && !existsSync(containerfile) ? dockerfile : containerfile;
};

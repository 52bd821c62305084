import { existsSync } from "node:fs";
import { join } from "node:path";

/** The build file of a config directory: the existing one, or else the one to create. */
export const findBuildFile = (engine: "docker" | "podman", configDirectory: string): string => {
  const dockerfile = join(configDirectory, "Dockerfile");
  if (engine === "docker") return dockerfile;
  const containerfile = join(configDirectory, "Containerfile");
  return existsSync(dockerfile) && !existsSync(containerfile) ? dockerfile : containerfile;
};

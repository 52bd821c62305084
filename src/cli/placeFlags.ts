import type { Command } from "commander";
import type { SandboxFlags } from "./chosenSandbox.ts";
import { collect, collectHosts, collectMounts } from "./runValues.ts";

/** What commands that make sandboxes for something else than a run can say about them. */
export type PlaceFlags = Pick<
  SandboxFlags,
  "imageName" | "network" | "mount" | "host" | "readOnlyPath" | "path"
>;

export const addPlaceFlags = (command: Command): Command =>
  command
    .option("--image-name <name>", "image of the container (default: sanddune:<the directory's name>)")
    .option("--network <name>", "network of the container (repeatable); bubblewrap: `host`, `none`", collect)
    .option("--mount <host:path>", "show a host file or directory in the sandbox (repeatable)", collectMounts)
    .option(
      "--host <url>",
      "docker or podman on another machine: ssh://user@machine, tcp://machine:port (repeatable)",
      collectHosts,
    )
    .option("--read-only-path <dir>", "one more directory with programs for bubblewrap (repeatable)", collect)
    .option("--path <dirs>", "PATH in bubblewrap");

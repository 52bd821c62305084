import type { Command } from "commander";
import { findProject } from "../../project/findProject.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { choices } from "../shared/flagChoices.ts";
import { kebabCase } from "../shared/flagNames.ts";
import { createSandboxProvider, type SandboxFlags, sandboxNames } from "./chosenSandbox.ts";
import { choicesOf } from "./runDefaults.ts";
import { collect, collectHosts, collectMounts } from "./runValues.ts";

const SETTINGS = ["imageName", "network", "mount", "host", "readOnlyPath", "path"] as const;

/** What commands that make sandboxes for something else than a run can say about them. */
export interface PlaceFlags extends Pick<SandboxFlags, (typeof SETTINGS)[number]> {
  readonly sandbox?: string;
}

/** The first of these flags that was given, as it is typed. */
export const givenPlaceFlag = (flags: PlaceFlags): string | undefined => {
  const given = (["sandbox", ...SETTINGS] as const).find((flag) => flags[flag] !== undefined);
  return given && `--${kebabCase(given)}`;
};

/** The sandbox that the flags choose, or else the config of the project that `cwd` is in. */
export const sandboxFor = async (flags: PlaceFlags, cwd: string | undefined): Promise<SandboxProvider> => {
  const project = await findProject(cwd);
  const { sandbox, imageName } = choicesOf(flags, project);
  const settings = Object.fromEntries(SETTINGS.map((flag) => [flag, flags[flag]]));
  return createSandboxProvider({ sandbox, imageName }, settings, project);
};

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

/** The same, and the sandbox itself. */
export const addSandboxFlags = (command: Command): Command =>
  addPlaceFlags(command.addOption(choices("--sandbox <name>", "where the tests are run", sandboxNames)));

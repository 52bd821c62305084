import { Command } from "commander";
import { findProject } from "../../project/findProject.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { hostSettings, trust } from "./trust.ts";

const perform = async ({ cwd }: { readonly cwd?: string }): Promise<void> => {
  const project = await findProject(cwd);
  const { source: _, ...settings } = hostSettings(project);
  if (Object.keys(settings).length === 0) {
    await print(`${project.configPath} has no settings that need to be trusted.`);
    return;
  }
  await trust(project);
  await print(
    `These settings of ${project.configPath} are trusted until they change:\n${JSON.stringify(settings, undefined, 2)}`,
  );
};

const NOTES = `
Some settings of .sanddune/config.json run code on this machine, or let
sandboxes reach more of it: hooks.host, hooks with sudo, mounts, readOnlyPaths,
copyToWorktree, a network, the branch strategy head, and a sandbox that is a
file. Commands that create sandboxes refuse these settings until you trust them,
and again when they change.`;

/** `sanddune trust`: the user allows the settings of the project config. */
export const createTrustCommand = (): Command =>
  withExamples(
    new Command("trust")
      .description("Trusts the settings of .sanddune/config.json that affect this machine, and prints them.")
      .option(...CWD_FLAG)
      .action(performing(perform)),
    { title: "After you have read the file", command: "sanddune trust" },
  ).addHelpText("after", NOTES);

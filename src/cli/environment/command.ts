import { Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { createEnvCheckCommand } from "./checkCommand.ts";
import { createEnvRunCommand } from "./runCommand.ts";
import { createEnvServeCommand } from "./serveCommand.ts";

/** `sanddune environment …`. */
export const createEnvCommand = (): Command =>
  withExamples(
    new Command("environment")
      .description("The tests of an environment: offers, checks and runs them on this machine.")
      .addCommand(createEnvServeCommand())
      .addCommand(createEnvCheckCommand())
      .addCommand(createEnvRunCommand()),
    {
      title: "See whether an environment is right, then run its tests",
      command: "sanddune environment check tests/env && sanddune environment run tests/env",
    },
    {
      title: "Offer them to an agent, which starts sanddune mcp",
      command: "sanddune environment serve tests/env",
    },
  );

import { Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { createEnvCheckCommand } from "./checkCommand.ts";
import { createEnvRunCommand } from "./runCommand.ts";
import { createEnvServeCommand } from "./serveCommand.ts";

/** `sanddune environment …`. */
export const createEnvCommand = (): Command =>
  withExamples(
    new Command("environment")
      .description("Serves, checks and runs the tests of an environment.")
      .addCommand(createEnvServeCommand())
      .addCommand(createEnvCheckCommand())
      .addCommand(createEnvRunCommand()),
    {
      title: "Check an environment, then run its tests",
      command: "sanddune environment check tests/env && sanddune environment run tests/env",
    },
    {
      title: "Serve them to an agent that uses sanddune mcp",
      command: "sanddune environment serve tests/env",
    },
  );

import { Command } from "commander";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { choices } from "../shared/flagChoices.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { performing } from "../shared/performing.ts";
import { AGENT, BACKLOG, BASE, SANDBOX, TEMPLATE } from "./answers.ts";
import type { InitFlags, Question } from "./flags.ts";

const init = performing(async (flags: InitFlags) => {
  // Only now: the help does not wait for the scaffold and the build of images to be loaded.
  const { performInit } = await import("./performInit.ts");
  await performInit(flags);
});

const choice = ({ flag, choices: answers = {} }: Question, description: string) =>
  choices(`${flag} <name>`, description, Object.keys(answers));

/** `sanddune init`. */
export const createInitCommand = (): Command =>
  withExamples(
    new Command("init")
      .description("Creates .sanddune/ in this repository: a program, its prompts and a Dockerfile.")
      .option(...CWD_FLAG)
      .addOption(choice(AGENT, "the agent"))
      .option("--model <name>", "the model of the agent")
      .option("--agent-command <line>", "the command line for --agent command")
      .addOption(choice(SANDBOX, "the sandbox"))
      .addOption(choice(TEMPLATE, "the template to start from"))
      .addOption(choice(BACKLOG, "the source of the tasks"))
      .option(
        "--image-name <name>",
        "name of the image (default: sanddune:<name of the repository's directory>)",
      )
      .addOption(choice(BASE, "the base image (default: node)"))
      .option("--no-build", "do not build the image")
      .option("--yes", "ask nothing, and use the defaults")
      .option("--json", "print the result as one JSON object; asks nothing"),
    { title: "Answer questions at the terminal", command: "sanddune init" },
    {
      title: "Answer all questions with flags",
      command:
        "sanddune init --agent claude-code --model claude-opus-4-8 \\\n--sandbox docker --template simple-loop --backlog github-issues",
    },
    {
      title: "With Python, Rust and build tools in the image",
      command: "sanddune init --sandbox docker --base ubuntu",
    },
    {
      title: "Try it without a container, with the defaults",
      command: "sanddune init --sandbox bubblewrap --yes",
    },
  ).action(init);

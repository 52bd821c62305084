import { Argument, Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { print } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { completionScripts, type Shell } from "./scripts.ts";

const NOTES = `
sanddune has to be on your PATH: it is asked what could come next.`;

/** `sanddune completions`: the script that teaches a shell this command line. */
export const createCompletionsCommand = (): Command =>
  withExamples(
    new Command("completions")
      .description("Prints a script that lets the tab key complete commands, flags, values and runs.")
      .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(completionScripts))),
    {
      title: "bash: for now, and for every new shell",
      command: `source <(sanddune completions bash)
echo 'source <(sanddune completions bash)' >> ~/.bashrc`,
    },
    {
      title: "zsh, after compinit in ~/.zshrc",
      command: "echo 'source <(sanddune completions zsh)' >> ~/.zshrc",
    },
    {
      title: "fish",
      command: "sanddune completions fish > ~/.config/fish/completions/sanddune.fish",
    },
  )
    .addHelpText("after", NOTES)
    .action(performing((_flags, shell: Shell) => print(completionScripts[shell].trimEnd())));

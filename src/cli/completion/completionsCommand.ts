import { Argument, Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { print } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { completionScripts, type Shell } from "./scripts.ts";

const NOTES = `
sanddune must be on your PATH, because the script calls it.`;

/** `sanddune completions`: prints the completion script of a shell. */
export const createCompletionsCommand = (): Command =>
  withExamples(
    new Command("completions")
      .description("Prints a script that completes commands, flags, values and runs.")
      .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(completionScripts))),
    {
      title: "bash: this shell, and every new one",
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

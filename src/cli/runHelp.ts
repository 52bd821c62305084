import { agentRegistry } from "./agentRegistry.ts";
import { sandboxRegistry } from "./sandboxRegistry.ts";

const NAME_WIDTH = 13;

const entries = (registry: Readonly<Record<string, { readonly summary: string }>>): string =>
  Object.entries(registry)
    .map(([name, { summary }]) => `  ${name.padEnd(NAME_WIDTH)}${summary}`)
    .join("\n");

/** What `sanddune run --help` says below the options. */
export const runHelp = (): string => `
Sandboxes:
${entries(sandboxRegistry)}

Agents:
${entries(agentRegistry)}

Examples:
  Claude Code in a container of your image, with your key:
    $ export ANTHROPIC_API_KEY=…
    $ sanddune run --agent claude-code --model claude-opus-4-8 \\
        --sandbox docker --branch agent/fix-42 --prompt 'Fix issue 42'

  A script as the agent, its commits on a branch of their own:
    $ sanddune run --agent-command 'sh ./agent.sh' --sandbox bubblewrap \\
        --branch agent/fix-42 --prompt 'Fix issue 42'

  The prompt from a pipe, the result for a program:
    $ gh issue view 42 | sanddune run --agent-command 'sh ./agent.sh' \\
        --sandbox docker --image my-image --merge-to-head --prompt - --json

Exit codes:
  0  the run succeeded      2  bad usage: nothing was started
  1  the run failed         130, 143  stopped by Ctrl-C, by SIGTERM
`;

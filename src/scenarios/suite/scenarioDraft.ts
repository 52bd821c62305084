import { BLOCK_END, BLOCK_START } from "../pages/specBlock.ts";
import type { ScenarioSpec } from "../spec.ts";

/** The kinds of a new scenario. The others are set by editing the page. */
export type DraftRunnable = "cli" | "agent";

/** The agent of a new scenario for agents. */
export const DRAFT_PLATFORM = "claude";

const SPECS: Readonly<Record<DraftRunnable, Omit<ScenarioSpec, "runnable" | "fixture">>> = {
  cli: {
    steps: [{ name: "Write a greeting", cmd: ["sh", "-c", "echo hello > greeting.txt"] }],
    assertions: [{ file_contains: { path: "greeting.txt", substr: "hello" } }],
  },
  agent: {
    ide_platform: DRAFT_PLATFORM,
    steps: [
      {
        name: "Write a greeting",
        agent: "greet",
        prompt: "Write the word hello into a new file greeting.txt. Change nothing else.",
      },
    ],
    assertions: [{ file_contains: { path: "greeting.txt", substr: "hello" } }],
  },
};

const titleOf = (id: string): string => {
  const words = id.replace(/[._-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The text of a new scenario page. It can be executed unchanged, as a starting point. */
export const draftPage = (id: string, runnable: DraftRunnable, fixture: string): string => `# ${titleOf(id)}

What is tested here, and for whom it matters.

## Steps

1. A greeting is written into \`greeting.txt\`.

## Expected outcome

- \`greeting.txt\` says hello.

${BLOCK_START}

\`\`\`json
${JSON.stringify({ runnable, fixture, ...SPECS[runnable] }, undefined, 2)}
\`\`\`

${BLOCK_END}
`;

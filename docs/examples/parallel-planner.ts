// A planner chooses the tasks, agents do them side by side, each is merged when it is done: node parallel-planner.ts
import { command, Output, run, runAll } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";

const agent = command("sh ./agent.sh"); // claudeCode("claude-opus-4-8"), say
const sandbox = bubblewrap();
const branchStrategy = { type: "merge-to-head" } as const;

const { output } = await run({
  agent,
  sandbox,
  branchStrategy,
  name: "plan",
  prompt: `Read TASKS.md and choose the tasks that do not touch the same files. Commit nothing.
Answer with one task a line, a short id first, such as
<tasks>
fix-login The login form loses what was typed
</tasks>`,
  output: Output.string({ tag: "tasks" }),
});

const tasks = output.split("\n").flatMap((line) => {
  const [, id, what] = /^([a-z0-9-]+) (.+)$/.exec(line.trim()) ?? [];
  return id === undefined || what === undefined ? [] : [{ id, what }];
});

await runAll(
  tasks.map(({ id, what }) => ({
    agent,
    sandbox,
    branchStrategy,
    name: id,
    prompt: `${what}. Commit what you have done.`,
  })),
  {
    concurrency: 3,
    onProgress: (event) => {
      if (event.type !== "finished") return;
      const { name, state, commits, error } = event.outcome;
      if (state === "succeeded") return console.log(`${name}: ${commits.length} commits, merged`);
      // Conflicts among them: the message says where the commits are, and what to type. It may quote the agent, whose
      // words must not steer your terminal.
      console.error(`${name}: ${String(error).replace(/[^\P{Cc}\n]/gu, "")}`);
      process.exitCode = 1;
    },
  },
);

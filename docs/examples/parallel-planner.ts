// A planner chooses the tasks, agents do them side by side, each is merged when it is done: node parallel-planner.ts
import { command, Output, run } from "sanddune";
import { bubblewrap } from "sanddune/sandboxes/bubblewrap";

const agent = command("sh ./agent.sh"); // claudeCode("claude-opus-4-8"), say
const sandbox = bubblewrap();
const branchStrategy = { type: "merge-to-head" } as const;
const AT_ONCE = 3;

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

const work = async (): Promise<void> => {
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
    try {
      const prompt = `${task.what}. Commit what you have done.`;
      const { commits } = await run({ agent, sandbox, branchStrategy, name: task.id, prompt });
      console.log(`${task.id}: ${commits.length} commits, merged`);
    } catch (error) {
      // One that fails stops no other. Conflicts among them: the message says where the commits are, and what to type.
      // It may quote the agent, whose words must not steer your terminal.
      console.error(`${task.id}: ${String(error).replace(/[^\P{Cc}\n]/gu, "")}`);
      process.exitCode = 1;
    }
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));

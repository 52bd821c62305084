// Grades two agents with the scenarios of the suite in this directory: node grade-agents.ts
import { command, runScenarios } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";

const agents = {
  careful: command("sh ./careful.sh"), // claudeCode("claude-opus-4-8"), say
  hasty: command("sh ./hasty.sh"),
};

for (const [name, agent] of Object.entries(agents)) {
  const { passing, failing, problems } = await runScenarios({
    config: "scenarios.json",
    runnable: "agent",
    agent,
    sandbox: bubblewrap({ network: "host" }), // the agent fetches from the local mirror
    recordsDir: `runs/${name}`,
    repeat: 3,
    onProgress: (event) => {
      if (event.type !== "finished") return;
      const { id, record } = event.execution;
      console.log(`${name}: ${id}: ${record.result} ${record.notes ?? ""}`);
    },
  });
  console.log(`${name}: ${passing} of ${passing + failing} pass`);
  // Without these, nothing is known about the scenarios that they name.
  for (const { subject, message } of problems) console.error(`${subject}: ${message}`);
  if (problems.length > 0) process.exitCode = 1;
}

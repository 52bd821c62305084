import { claudeCode, run } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";

/** Runs Claude Code as whoever runs this, and prints what came of it. Its one argument is all that it knows. */
const { sandbox, image, agents, path, model, env, cwd } = JSON.parse(process.argv[2] ?? "{}");

const mounts = [{ hostPath: agents, sandboxPath: "/opt/agents", readOnly: true }];
const result = await run({
  agent: claudeCode(model),
  sandbox:
    sandbox === "docker"
      ? docker({ imageName: image, network: "host", mounts })
      : bubblewrap({ network: true, path, mounts }),
  branchStrategy: { type: "branch", branch: "agent/work" },
  cwd,
  prompt: "Greet the world, and commit.",
  env: Object.fromEntries(
    Object.entries({ PATH: path, ...env }).map(([name, value]) => [name, { public: String(value) }]),
  ),
});
const second = await result.resume("Who are you?");
console.log(
  JSON.stringify({
    uid: process.getuid?.(),
    commits: result.commits.length,
    signal: result.completionSignal,
    warnings: [...result.warnings, ...second.warnings],
    sessionFilePath: result.iterations[0]?.sessionFilePath,
    resumed: second.stdout,
  }),
);

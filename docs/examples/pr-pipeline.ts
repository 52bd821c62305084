// An issue becomes a pull request: node pr-pipeline.ts 42
import { execFileSync } from "node:child_process";
import { command, createSandbox } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";

const agent = command("sh ./agent.sh"); // claudeCode("claude-opus-4-8"), say
const issue = process.argv[2] ?? "42";
const MENDING_ATTEMPTS = 3;

// One sandbox for all of it: what the agent installs for its work is there for the tests.
const sandbox = await createSandbox({ branch: `agent/issue-${issue}`, sandbox: bubblewrap() });

try {
  const runs = [await sandbox.run({ agent, prompt: `Fix issue ${issue} and commit the fix.` })];
  let tests = await sandbox.exec("sh ./test.sh");
  for (let attempt = 1; tests.exitCode !== 0 && attempt <= MENDING_ATTEMPTS; attempt++) {
    const prompt = `The tests fail. Fix the cause and commit.\n\n${tests.stdout}\n${tests.stderr}`;
    runs.push(await sandbox.run({ agent, prompt }));
    tests = await sandbox.exec("sh ./test.sh");
  }

  const commits = runs.flatMap((run) => run.commits);
  const toReview = [...new Set(runs.flatMap((run) => run.protectedPaths))];
  if (commits.length === 0) {
    console.error(`The agent has committed nothing for issue ${issue}.`);
    process.exitCode = 1;
  } else {
    // On the host: the agent has no credentials for the remote. The tests above are the agent's word, since it could
    // have changed them, so what cannot be vouched for is a draft.
    const isDraft = tests.exitCode !== 0 || toReview.length > 0;
    execFileSync("git", ["push", "origin", sandbox.branch], { stdio: "inherit" });
    const notes = [
      `Closes #${issue}`,
      ...toReview.map((path) => `Look closely at ${path}: it runs by itself.`),
    ];
    execFileSync(
      "gh",
      [
        ...["pr", "create", "--head", sandbox.branch, "--title", `Fix issue ${issue}`],
        ...["--body", notes.join("\n\n"), ...(isDraft ? ["--draft"] : [])],
      ],
      { stdio: "inherit" },
    );
  }
} finally {
  await sandbox.close();
}

// A process of its own that plays attacks, for those that might block or end the whole process: the file in its
// arguments describes them by name, and it prints what came of each, on a line, once it has.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { RunOptions } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { type AgentName, attack, invoke, posing } from "./posing.ts";

export interface AttackScene {
  readonly agent: AgentName;
  /** What the agent does, in `sh`. */
  readonly script: string;
  /** A repository for a whole run; without one, the agent works in a sandbox that is there. */
  readonly cwd?: string;
  readonly options?: Partial<RunOptions>;
}

const sandbox = await testIsolated().create({
  runId: "attack",
  sandboxName: `sanddune-test-${randomUUID()}`,
  repositoryPath: tmpdir(),
});
const scenes: Record<string, AttackScene> = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
for (const [name, { agent, script, cwd, options }] of Object.entries(scenes)) {
  const poser = posing(agent, script);
  const playing: Promise<unknown> = cwd === undefined ? invoke(sandbox, poser) : attack(cwd, poser, options);
  const outcome = await playing.then(
    () => "succeeded",
    (error: Error) => error.name,
  );
  console.log(`${name}: ${outcome}`);
}
await sandbox.close();

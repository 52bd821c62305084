// A process of its own that plays one attack, for those that might block or end the whole process: it runs the agent
// that the file in its arguments describes, and prints what came of it.
import { readFileSync } from "node:fs";
import type { RunOptions } from "../../src/index.ts";
import { type AgentName, attack, posing } from "./posing.ts";

export interface AttackScene {
  readonly agent: AgentName;
  /** What the agent does, in `sh`. */
  readonly script: string;
  readonly cwd: string;
  readonly options?: Partial<RunOptions>;
}

export type AttackOutcome = {
  readonly error?: string;
  readonly message?: string;
  readonly warnings?: readonly string[];
  readonly iterations?: readonly { readonly sessionFilePath?: string }[];
};

const { agent, script, cwd, options }: AttackScene = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const outcome: AttackOutcome = await attack(cwd, posing(agent, script), options).catch((error: Error) => ({
  ...error,
  error: error.name,
  message: error.message.slice(0, 1000),
}));
const { error, message, warnings, iterations } = outcome;
console.log(JSON.stringify({ error, message, warnings, iterations }));

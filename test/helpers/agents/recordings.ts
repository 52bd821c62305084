import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "../modelServer/script.ts";

const RECORDINGS = join(import.meta.dirname, "../../agents/recordings");

export type RecordedAgent = "claude-code" | "codex" | "copilot" | "gemini" | "opencode" | "pi";

/** One entry of an agent's cases.json. In `env` and `files`, `{{URL}}` stands for the address of the model. */
interface RecordedCase {
  readonly case: string;
  readonly note: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Below the home directory; what is not a string was written as JSON. */
  readonly files: Readonly<Record<string, unknown>>;
  readonly stdin: string;
  /** What the model played. */
  readonly script: readonly Turn[];
  /** `null` if a signal ended the agent. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly modelRequests: number;
  readonly sessionFiles: readonly string[];
}

export interface Recording extends Omit<RecordedCase, "case" | "stderr"> {
  /** The lines on stdout, without their ends. Only a line feed ends a line: the text may have U+2028 in it. */
  readonly lines: readonly string[];
  readonly stderr: readonly string[];
  /** All of stdout, byte for byte. */
  readonly stdout: Buffer;
}

const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

const casesOf = (agent: RecordedAgent): RecordedCase[] =>
  JSON.parse(readFileSync(join(RECORDINGS, agent, "cases.json"), "utf8"));

/** The names of an agent's recorded cases. */
export const recordedCases = (agent: RecordedAgent): string[] => casesOf(agent).map((entry) => entry.case);

/** What a real agent printed in a case, and how it ended. See test/agents/recordings/README.md. */
export const recording = (agent: RecordedAgent, name: string): Recording => {
  const found = casesOf(agent).find((entry) => entry.case === name);
  if (!found) throw new Error(`no recording of ${agent} is called ${name}`);
  const stdout = readFileSync(join(RECORDINGS, agent, `${name}.jsonl`));
  const { case: _, stderr, ...rest } = found;
  return { ...rest, stdout, lines: linesOf(stdout.toString("utf8")), stderr: linesOf(stderr) };
};

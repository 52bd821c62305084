import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentCommand } from "../../../src/agents/contract.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import { temporaryDirectory } from "../repository/repository.ts";

/** A program that was started: what it was given. */
export interface StartedProgram {
  readonly args: readonly string[];
  readonly stdin: string;
  /** What was in each file that an argument named. */
  readonly files: Readonly<Record<string, string>>;
}

export interface AgentLineResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly programs: readonly StartedProgram[];
  /** What is left in the directory for temporary files. */
  readonly leftFiles: readonly string[];
}

/** What the stand-in for the program does. */
interface AgentLineOptions {
  readonly say?: string;
  readonly code?: number;
  /** A directory that it makes. */
  readonly make?: string;
  readonly cwd?: string;
}

const RECORDER = `#!/usr/bin/env node
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(2);
const paths = args.flatMap((word) => word.match(/\\/\\S*sanddune-[\\w.-]*\\w/g) ?? []);
const files = Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")]));
writeFileSync(process.env.RECORD, JSON.stringify({ args, stdin: readFileSync(0, "utf8"), files }));
if (process.env.MAKE) mkdirSync(process.env.MAKE);
process.stdout.write(process.env.SAY ?? "");
process.exit(Number(process.env.CODE ?? 0));
`;

/** Has `sh` run an agent's command line with a stand-in for the agent's program, which notes what it is given. */
export const runAgentLine = (
  command: AgentCommand,
  program: string,
  { say = "", code = 0, make = "", cwd }: AgentLineOptions = {},
): AgentLineResult => {
  const directory = temporaryDirectory();
  const record = join(directory, "record");
  const temporary = join(directory, "tmp");
  mkdirSync(temporary);
  writeFileSync(join(directory, program), RECORDER);
  chmodSync(join(directory, program), 0o755);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", commandLineOf(command)], {
    cwd: cwd ?? directory,
    input: command.stdin,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      ...command.env,
      HOME: directory,
      PATH: `${directory}:${process.env["PATH"]}`,
      TMPDIR: temporary,
      RECORD: record,
      SAY: say,
      MAKE: make,
      CODE: String(code),
    },
  });
  return {
    exitCode: status,
    stdout,
    stderr,
    programs: existsSync(record) ? [JSON.parse(readFileSync(record, "utf8"))] : [],
    leftFiles: readdirSync(temporary),
  };
};

import { parseArgs } from "node:util";
import { parseJson } from "../../tools/json/parseJson.ts";
import type { ParameterValues } from "../contract.ts";
import { valuesProblem } from "../definition/parameters.ts";

/** The command line is wrong. */
export class ToolUsageError extends Error {}

export interface ToolArguments {
  readonly directory?: string;
  readonly worktree?: string;
  readonly scratch?: string;
  readonly port?: string;
  readonly socket?: string;
  readonly parameters?: string;
  /** The first line of standard input is a key that seals all printed lines. */
  readonly sealed?: boolean;
  readonly "no-setup"?: boolean;
  /** The archive with the tested work, once standard input announces it. */
  readonly archive?: string;
  /** Where it is unpacked. */
  readonly tree?: string;
  /** Also list the tests. */
  readonly schema?: boolean;
  readonly path?: string;
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

const PLACE = { directory: text, worktree: text, scratch: text, "no-setup": flag, sealed: flag };
const SERVER = { port: text, socket: text };

/** The flags of each command. */
const COMMANDS = {
  serve: { ...PLACE, ...SERVER },
  run: { ...PLACE, parameters: text, archive: text, tree: text },
  setup: { ...PLACE, schema: flag },
  proxy: { ...SERVER, sealed: flag },
  worker: {},
} as const satisfies Record<string, Flags>;

type Flags = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

export type ToolCommandName = keyof typeof COMMANDS;

const isCommand = (name: string | undefined): name is ToolCommandName =>
  name !== undefined && Object.hasOwn(COMMANDS, name);

export const readArguments = (
  argv: readonly string[],
): { readonly command: ToolCommandName; readonly args: ToolArguments } => {
  const [command, ...rest] = argv;
  if (!isCommand(command))
    throw new ToolUsageError(`Unknown command; expected one of: ${Object.keys(COMMANDS).join(", ")}.`);
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: COMMANDS[command] as Flags,
      allowPositionals: command === "run",
    });
    if (positionals.length > 1) throw new Error("Pass at most one path.");
    return { command, args: { ...(values as ToolArguments), path: positionals[0] ?? "" } };
  } catch (cause) {
    throw new ToolUsageError(`${command}: ${(cause as Error).message}`, { cause });
  }
};

export const required = (
  args: ToolArguments,
  name: "directory" | "worktree" | "scratch" | "tree",
): string => {
  const value = args[name];
  if (value === undefined || value === "") throw new ToolUsageError(`--${name} is missing.`);
  return value;
};

export const portOf = ({ port }: ToolArguments): number | undefined => {
  if (port === undefined) return undefined;
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new ToolUsageError("--port must be a whole number from 0 to 65535.");
};

export const parametersOf = ({ parameters }: ToolArguments): ParameterValues => {
  if (parameters === undefined) return {};
  const values = parseJson(parameters);
  if (values === undefined) throw new ToolUsageError('--parameters must be JSON, e.g. { "name": "value" }.');
  const problem = valuesProblem(values);
  if (problem !== undefined) throw new ToolUsageError(`--parameters: ${problem}`);
  return values as ParameterValues;
};

import type {
  AgentCommand,
  AgentErrorKind,
  AgentEvent,
  AgentOutputParser,
  AgentProgram,
} from "../../agents/contract.ts";
import {
  anyText,
  type Check,
  callback,
  flag,
  oneOf,
  problemOf,
  text,
  textByName,
} from "../../options/checks/checks.ts";
import { kindOf } from "../../options/checks/valueKind.ts";
import { isObject } from "../../tools/values/predicates.ts";

const argvOrLine: Check = (value) => {
  const isArgv = Array.isArray(value) && value.every((item) => typeof item === "string");
  return text(Array.isArray(value) ? value[0] : value) === undefined && (isArgv || typeof value === "string")
    ? undefined
    : "must be a non-empty list of strings, or a command for sh";
};

type MemberChecks = readonly (readonly [name: string, check: Check])[];

const membersProblem = (value: Record<string, unknown>, checks: MemberChecks): string | undefined => {
  for (const [name, check] of checks) {
    const problem = problemOf(check, value[name]);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
};

const OPTIONAL: Readonly<Record<string, Check>> = { env: textByName, setup: anyText };

const checkedProgram = <Program>(
  what: string,
  value: unknown,
  required: Readonly<Record<string, Check>>,
): Program => {
  if (!isObject(value)) throw new Error(`${what} returned ${kindOf(value)} instead of an object`);
  const given = Object.entries(OPTIONAL).filter(([name]) => value[name] !== undefined);
  const problem = membersProblem(value, [...Object.entries(required), ...given]);
  if (problem !== undefined) throw new Error(`${what} returned a wrong object: ${problem}`);
  return value as Program;
};

/** Checks the command that an agent provider has built. Throws an error that names the problem. */
export const checkedCommand = (value: unknown): AgentCommand =>
  checkedProgram("buildCommand()", value, { command: argvOrLine, stdin: anyText });

export const checkedInteraction = (value: unknown): AgentProgram =>
  checkedProgram("interactiveCommand()", value, { command: argvOrLine });

export const checkedParser = (value: unknown): AgentOutputParser => {
  const problem = problemOf(callback, value);
  if (problem !== undefined)
    throw new Error(`createParser() returned ${kindOf(value)} instead of a function`);
  return value as AgentOutputParser;
};

const ERROR_KINDS = Object.keys({
  authentication: true,
  rateLimit: true,
  overloaded: true,
  unreachable: true,
  contextLength: true,
  unavailable: true,
  other: true,
} satisfies Record<AgentErrorKind, true>);

/** The fields that the engine reads without checking them again. */
const EVENTS: Readonly<Record<AgentEvent["type"], Readonly<Record<string, Check>>>> = {
  text: { text: anyText },
  toolCall: { name: anyText },
  toolResult: { output: anyText },
  turnStart: {},
  usage: { usage: (value) => (isObject(value) ? undefined : "must be an object") },
  sessionId: { sessionId: anyText },
  error: { kind: oneOf(ERROR_KINDS), message: anyText },
  result: { isError: flag },
  raw: { line: anyText },
};

/** Every line of an agent is checked: the list of its checks is made once. */
const CHECKS_OF_EVENTS: ReadonlyMap<string, MemberChecks> = new Map(
  Object.entries(EVENTS).map(([type, checks]) => [type, Object.entries(checks)]),
);

/** Checks the events that a parser has returned for a line. Throws an error that names the problem. */
export const checkedEvents = (value: unknown): readonly AgentEvent[] => {
  if (!Array.isArray(value))
    throw new Error(`the parser returned ${kindOf(value)} instead of a list of events`);
  for (const event of value) {
    const type = isObject(event) ? event["type"] : undefined;
    const checks = typeof type === "string" ? CHECKS_OF_EVENTS.get(type) : undefined;
    if (checks === undefined) {
      const known = Object.keys(EVENTS).join(", ");
      throw new Error(`the parser returned an event without a known type; expected one of: ${known}`);
    }
    const problem = membersProblem(event, checks);
    if (problem !== undefined) throw new Error(`the parser returned an event of type ${type}: ${problem}`);
  }
  return value;
};

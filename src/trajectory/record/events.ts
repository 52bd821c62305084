import type { AgentStreamEvent } from "../../agents/contract.ts";
import { showToolInput } from "../../display/toolInput.ts";
import type { RecordedEvent } from "./file.ts";

/** The maximum length of a text, of a tool's input and of its output. */
const MAX_LENGTH = 16_000;

/** Keeps the beginning and the end of a long text: errors are usually at the end. */
export const cut = (text: string): string =>
  text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH / 2)}\n… ${text.length - MAX_LENGTH} characters are left out …\n${text.slice(-MAX_LENGTH / 2)}`;

const cutInput = (input: unknown): unknown => {
  try {
    const json = JSON.stringify(input);
    return json === undefined || json.length <= MAX_LENGTH ? input : cut(json);
  } catch {
    return showToolInput(input);
  }
};

const cutField = ([name, value]: [string, unknown]): [string, unknown] => {
  if (name === "input") return [name, cutInput(value)];
  if (value instanceof Date) return [name, value.toISOString()];
  return [name, typeof value === "string" ? cut(value) : value];
};

/** An event as it is recorded; `undefined` if it is left out. */
export const recordedEvent = (event: AgentStreamEvent): RecordedEvent | undefined =>
  event.type === "raw"
    ? undefined
    : (Object.fromEntries(Object.entries(event).map(cutField)) as RecordedEvent);

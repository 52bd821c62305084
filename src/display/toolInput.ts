/** What most tools are about, in the order in which it is looked for. */
const TELLING = [
  "command",
  "file_path",
  "path",
  "pattern",
  "query",
  "url",
  "message",
  "description",
  "prompt",
] as const;

/** The input as JSON. An agent may print what cannot be written as that: data without end to its depth. */
export const showToolInput = (input: unknown): string => {
  try {
    return JSON.stringify(input) ?? "";
  } catch {
    return "[input that cannot be shown]";
  }
};

/** The one thing about a tool call's input that a person wants to see. */
export const describeToolInput = (input: unknown): string => {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return input === undefined ? "" : String(input);
  for (const key of TELLING) {
    const value: unknown = Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined;
    if (typeof value === "string") return value;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(" ");
  }
  return showToolInput(input);
};

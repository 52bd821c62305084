/** The most telling members of tool inputs, in order of preference. */
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

/** The input as JSON. It may be nested too deeply for that. */
export const showToolInput = (input: unknown): string => {
  try {
    return JSON.stringify(input) ?? "";
  } catch {
    return "[input that cannot be shown]";
  }
};

/** The part of a tool call's input that matters most to a person. */
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

const tagOf = (value: object): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

/**
 * Names the kind of a value for an error message. Never quotes a string: the value of a mistyped option may be a
 * secret.
 */
export const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  const tag = tagOf(value);
  return tag === "Object" ? "an object" : `a ${tag}`;
};

/** Whether a value can hold options. A promise, a map or a date has none, so every default would silently apply. */
export const isOptionsObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && tagOf(value) === "Object";

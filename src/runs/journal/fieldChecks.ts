/** Whether a value that was read is what it should be: files of a repository may hold anything. */
export type Check = (value: unknown) => boolean;

/** The fields of an object, by their names. */
export type Fields = Readonly<Record<string, Check>>;

export const isDate: Check = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value));
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
export const oneOf =
  (...choices: readonly string[]): Check =>
  (value) =>
    choices.some((choice) => choice === value);
/** An object with at least these fields. */
export const record =
  (fields: Fields): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));

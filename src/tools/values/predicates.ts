/** Whether a value that comes from outside the process (a file, a program's output, an answer) has an expected form. */
export type Predicate = (value: unknown) => boolean;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === "string";
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const isAmount = (value: unknown): value is number => isNumber(value) && value >= 0;
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && isAmount(value);
export const isDate = (value: unknown): value is string => isText(value) && !Number.isNaN(Date.parse(value));

export const optional =
  (predicate: Predicate): Predicate =>
  (value) =>
    value === undefined || predicate(value);

export const orNull =
  (predicate: Predicate): Predicate =>
  (value) =>
    value === null || predicate(value);

export const oneOf =
  (...choices: readonly string[]): Predicate =>
  (value) =>
    choices.some((choice) => choice === value);

export const listOf =
  (predicate: Predicate): Predicate =>
  (value) =>
    Array.isArray(value) && value.every(predicate);

/** The fields of an object, by their names. */
export type Fields = Readonly<Record<string, Predicate>>;

/** An object with at least these fields. */
export const objectWith =
  (fields: Fields): Predicate =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, predicate]) => predicate(value[name]));

/** An object with at least the fields of the variant that its `type` names. */
export const variantOf =
  (variants: Readonly<Record<string, Fields>>): Predicate =>
  (value) => {
    const type = isObject(value) ? value["type"] : undefined;
    const fields = isText(type) && Object.hasOwn(variants, type) ? variants[type] : undefined;
    return fields !== undefined && objectWith(fields)(value);
  };

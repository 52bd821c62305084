import { orUndefined } from "../orUndefined.ts";
import { isObject } from "../values/predicates.ts";

/** An object of JSON text that another program has written: nothing about its members is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of a JSON text; `undefined` if it is not JSON. */
export const parseJson = (text: string): unknown => orUndefined(() => JSON.parse(text));

/** The object that a JSON text holds; `undefined` if it holds anything else. */
export const parseObject = (text: string): JsonObject | undefined => {
  // Most lines that an agent prints are not JSON: an exception for each would be slow.
  if (!text.trimStart().startsWith("{")) return undefined;
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
};

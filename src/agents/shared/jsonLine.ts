import type { JsonObject } from "../../tools/json/parseJson.ts";
import { isNumber, isObject, isText } from "../../tools/values/predicates.ts";

export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isObject(value) ? value : {};
};

export const objectsAt = (object: JsonObject, key: string): readonly JsonObject[] => {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

export const textAt = (object: JsonObject, key: string): string | undefined => {
  const value = object[key];
  return isText(value) ? value : undefined;
};

export const numberAt = (object: JsonObject, key: string): number | undefined => {
  const value = object[key];
  return isNumber(value) ? value : undefined;
};

/** A number of tokens; 0 if the value is not one. */
export const tokensAt = (object: JsonObject, key: string): number => Math.max(0, numberAt(object, key) ?? 0);

/** The output of a tool, which is a text or a list of blocks. */
export const outputText = (content: unknown): string => {
  if (typeof content === "string") return content;
  if (content === undefined || content === null) return "";
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((block: unknown) =>
      isObject(block) ? (textAt(block, "text") ?? `[${textAt(block, "type") ?? "?"}]`) : "",
    )
    .join("\n");
};

import { nearest } from "../nearest.ts";
import { shorten } from "../shorten.ts";
import type { JsonNode } from "./jsonText.ts";
import { resolveSchema, type Schema } from "./schema.ts";
import type { LineProblem } from "./textProblem.ts";

/** A value with its path, such as `steps[1].cmd`. */
interface Place {
  readonly node: JsonNode;
  readonly path: string;
}

const TYPES: Readonly<Record<string, { readonly name: string; readonly has: (node: JsonNode) => boolean }>> =
  {
    string: { name: "a text", has: ({ value }) => typeof value === "string" },
    boolean: { name: "true or false", has: ({ value }) => typeof value === "boolean" },
    number: { name: "a number", has: ({ value }) => typeof value === "number" },
    integer: { name: "a whole number", has: ({ value }) => Number.isInteger(value) },
    array: { name: "a list", has: ({ items }) => items !== undefined },
    object: { name: "an object", has: ({ members }) => members !== undefined },
  };

const SHOWN_LENGTH = 60;

const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(", ");

const shown = ({ value, items, members }: JsonNode): string => {
  if (items !== undefined) return "a list";
  if (members !== undefined) return "an object";
  return shorten(JSON.stringify(value), SHOWN_LENGTH);
};

const problemAt = ({ node, path }: Place, problem: string, line = node.line): LineProblem => ({
  line,
  problem: path === "" ? problem : `${path}: ${problem}`,
});

const regexProblem = (text: string): string | undefined => {
  try {
    new RegExp(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const checkText = (place: Place, text: string, schema: Schema): LineProblem[] => {
  const { enum: words, minLength = 0, pattern, format, description } = schema;
  if (text.length < minLength) return [problemAt(place, "must not be empty")];
  const noRegex = format === "regex" ? regexProblem(text) : undefined;
  return [
    words?.includes(text) === false && `must be one of ${quoted(words)}, and is ${shown(place.node)}`,
    pattern !== undefined &&
      !new RegExp(pattern, "u").test(text) &&
      `must be ${description}; it is ${shown(place.node)}`,
    noRegex !== undefined && `must be a regular expression: ${noRegex}`,
  ]
    .filter((problem) => problem !== false)
    .map((problem) => problemAt(place, problem));
};

const checkNumber = (place: Place, value: number, { minimum, maximum }: Schema): LineProblem[] => {
  if (minimum !== undefined && value < minimum)
    return [problemAt(place, `must be at least ${minimum}, and is ${value}`)];
  if (maximum !== undefined && value > maximum)
    return [problemAt(place, `must be at most ${maximum}, and is ${value}`)];
  return [];
};

const checkList = (place: Place, nodes: readonly JsonNode[], schema: Schema, root: Schema): LineProblem[] => {
  const { prefixItems = [], items = {}, minItems = 0 } = schema;
  if (nodes.length < minItems) return [problemAt(place, "must not be empty")];
  return nodes.flatMap((node, index) =>
    check({ node, path: `${place.path}[${index}]` }, prefixItems[index] ?? items, root),
  );
};

const unknownKey = (key: string, known: readonly string[]): string => {
  const meant = nearest(key, known);
  const hint = meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
  return `there is no key ${JSON.stringify(key)}.${hint} Expected one of: ${known.join(", ")}`;
};

const checkObject = (
  place: Place,
  members: NonNullable<JsonNode["members"]>,
  schema: Schema,
  root: Schema,
): LineProblem[] => {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required.filter((key) => !members.has(key));
  const ofMembers = [...members].flatMap(([key, { line, node }]) => {
    const memberSchema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (memberSchema === false) return [problemAt(place, unknownKey(key, Object.keys(properties)), line)];
    const path = place.path === "" ? key : `${place.path}.${key}`;
    return typeof memberSchema === "object" ? check({ node, path }, memberSchema, root) : [];
  });
  return [
    ...missing.map((key) => problemAt(place, `the key ${JSON.stringify(key)} is missing`)),
    ...ofMembers,
  ];
};

/** The key of an alternative selects it, so that a problem is about that alternative and not about all of them. */
const checkOneOf = (place: Place, schema: Schema, oneOf: readonly Schema[], root: Schema): LineProblem[] => {
  const { members } = place.node;
  if (members === undefined) return [problemAt(place, `must be an object, and is ${shown(place.node)}`)];
  const alternatives = oneOf.map((alternative) => resolveSchema(alternative, root));
  const tags = alternatives.flatMap(({ required = [] }) => required);
  const found = tags.filter((tag) => members.has(tag));
  const meant = alternatives.filter(({ required = [] }) => required.some((tag) => members.has(tag)));
  if (found.length === 1) return meant.flatMap((alternative) => check(place, alternative, root));
  const present = found.length === 0 ? [...members.keys()] : found;
  const hints = found.length === 0 ? present.map((key) => nearest(key, tags)) : [];
  const hint = hints.find((tag) => tag !== undefined);
  return [
    problemAt(
      place,
      `this ${schema.title} must have exactly one of ${tags.join(", ")}, and has ${quoted(present) || "nothing"}${hint === undefined ? "" : `. Did you mean ${JSON.stringify(hint)}?`}`,
    ),
  ];
};

const check = (place: Place, unresolved: Schema, root: Schema): LineProblem[] => {
  const schema = resolveSchema(unresolved, root);
  if (schema.oneOf !== undefined) return checkOneOf(place, schema, schema.oneOf, root);
  const { value, items, members } = place.node;
  const type = TYPES[schema.type ?? ""];
  if (type?.has(place.node) === false) {
    return [problemAt(place, `must be ${type.name}, and is ${shown(place.node)}`)];
  }
  if (items !== undefined) return checkList(place, items, schema, root);
  if (members !== undefined) return checkObject(place, members, schema, root);
  if (typeof value === "string") return checkText(place, value, schema);
  return typeof value === "number" ? checkNumber(place, value, schema) : [];
};

/** Lists every problem of a JSON text that violates its schema. */
export const validate = (node: JsonNode, schema: Schema): readonly LineProblem[] =>
  check({ node, path: "" }, schema, schema);

import { fileList } from "../definition/checkDefinition.ts";
import { tokensOf } from "./tokens.ts";

export const PLAIN_LIST =
  'Write `files` as a plain list of strings, right in defineEnvironment({ … }): files: ["tests", "data.json"]. The host reads it without running the definition';

const OPENING = ["{", "[", "("];
const CLOSING = ["}", "]", ")"];

/** The tokens of the object that is passed to `defineEnvironment`, or else is the default export. */
const definitionTokens = (tokens: readonly string[]): readonly string[] => {
  const call = tokens.findIndex(
    (token, index) => token === "defineEnvironment" && ["(", "<"].includes(tokens[index + 1] ?? ""),
  );
  const start =
    call === -1
      ? tokens.findIndex((token, index) => token === "default" && tokens[index - 1] === "export")
      : tokens.indexOf("(", call);
  return start !== -1 && tokens[start + 1] === "{" ? tokens.slice(start + 2) : [];
};

/** The tokens after `files:`, where `files` is a member of the object itself. */
const valueTokens = (tokens: readonly string[]): readonly string[] | undefined => {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const isMember =
      depth === 0 &&
      ["files", '"files"', "'files'"].includes(token) &&
      [",", undefined].includes(tokens[index - 1]);
    if (isMember) return tokens.slice(index + 1);
    if (OPENING.includes(token)) depth++;
    else if (CLOSING.includes(token) && --depth < 0) return undefined;
  }
  return undefined;
};

const stringOf = (token: string): string | undefined => /^(["'])([^\\]*)\1$/.exec(token)?.[2];

/**
 * The `files` of a definition, read from its text: the host does not run the definition, because an agent may have written it.
 * `undefined` if it has none. Throws an `Error` if it cannot be read.
 */
export const readFilesOption = (text: string): readonly string[] | undefined => {
  const [colon, bracket, ...rest] = valueTokens(definitionTokens(tokensOf(text))) ?? [];
  if (colon === undefined) return undefined;
  const end = rest.indexOf("]");
  const items = rest.slice(0, end).filter((token) => token !== ",");
  const files = items.map(stringOf);
  const isPlain = colon === ":" && bracket === "[" && end !== -1 && !files.includes(undefined);
  if (!isPlain) throw new Error(`has a \`files\` that cannot be read. ${PLAIN_LIST}`);
  const problem = fileList(files);
  if (problem !== undefined) throw new Error(`has \`files\`, which ${problem}`);
  return files as string[];
};

import { fileList } from "../definition/checkDefinition.ts";
import { tokensOf } from "./tokens.ts";

export const PLAIN_LIST =
  'Write `files` as a plain list of strings, right in defineEnvironment({ … }): files: ["tests", "data.json"]. It is read without running the definition';

const OPENING = ["{", "[", "("];
const CLOSING = ["}", "]", ")"];

/** The tokens within the first object that is handed to `defineEnvironment`, or else is the default export. */
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

/** The tokens after `files:`, where that is a member of the object itself and of nothing in it. */
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
 * What a definition has in `files`, read from its text: what runs on this machine is not for whoever has written the
 * definition to say. `undefined` if it has none. Throws an `Error` if it cannot be read.
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

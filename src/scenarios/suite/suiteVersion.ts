import { parseJsonText } from "../../tools/json/jsonText.ts";
import { readText } from "../../tools/json/readText.ts";
import { TextProblem } from "../../tools/json/textProblem.ts";

const VERSION = /^[\w.+-]{1,100}$/;

/** Splits `manifest.json#version` into the file and the keys of the version. */
const splitVersionFile = (versionFile: string): { file: string; keys: readonly string[] | undefined } => {
  const at = versionFile.lastIndexOf("#");
  return at === -1
    ? { file: versionFile, keys: undefined }
    : { file: versionFile.slice(0, at), keys: versionFile.slice(at + 1).split(".") };
};

/** Reads the version of the tested product, with a `v` before it. Throws a `TextProblem`. */
export const readVersion = (versionFile: string): string => {
  const { file, keys } = splitVersionFile(versionFile);
  const text = readText(file);
  const value =
    keys === undefined
      ? text.trim()
      : keys.reduce<ReturnType<typeof parseJsonText>["node"] | undefined>(
          (node, key) => node?.members?.get(key)?.node,
          parseJsonText(text).node,
        )?.value;
  if (typeof value !== "string" || !VERSION.test(value)) {
    const place = keys === undefined ? "its text" : `its ${keys.join(".")}`;
    throw new TextProblem(1, `${place} is not a version such as 1.2.3`);
  }
  return /^v\d/i.test(value) ? value : `v${value}`;
};

import { type Check, didYouMean, unknownMember } from "./checks.ts";
import { isOptionsObject } from "./valueKind.ts";

/** Why a path cannot name a key file; `undefined` if it can. */
const pathProblem = (path: unknown): string | undefined => {
  if (typeof path !== "string" || path.trim() === "") return "an empty path";
  const item = JSON.stringify(path);
  if (path.includes("\0")) return `${item}, which has a NUL character in it`;
  if (path.startsWith("/") || path.startsWith("~")) return `${item}, which is not relative to \`cwd\``;
  const parts = path.split("/");
  if (parts.includes("..")) return `${item}, which leaves the directory`;
  if (path.endsWith("/")) return `${item}, which is a directory: name the files`;
  return parts.some((part) => part.toLowerCase() === ".git") ? `${item}, which is in \`.git\`` : undefined;
};

/** The member `cache` of a hook. */
export const hookCache: Check = (value) => {
  if (!isOptionsObject(value)) return 'must be an object, such as { key: ["package-lock.json"] }';
  const unknown = unknownMember(value, { key: hookCache });
  if (unknown !== undefined)
    return `there is no ${unknown}; expected one of: key.${didYouMean(unknown, ["key"])}`;
  const key: unknown = Reflect.get(value, "key");
  if (key === undefined) return undefined;
  if (!Array.isArray(key)) return "its `key` must be a list of paths";
  const problem = key.map(pathProblem).find((found) => found !== undefined);
  return problem && `its \`key\` has ${problem}`;
};

/** A sandbox starts from what the first hooks have done: a hook before them could not run. */
export const checkCachedFirst: Check = (value) => {
  const hooks = value as readonly { readonly command: string; readonly cache?: unknown }[];
  const first = hooks.findIndex(({ cache }) => cache === undefined);
  const later = hooks.find(({ cache }, index) => cache !== undefined && first !== -1 && index > first);
  return (
    later &&
    `the hook ${JSON.stringify(later.command)} has \`cache\`, and runs after ${JSON.stringify(hooks[first]?.command)}, which has none: move it up, or give the earlier one a \`cache\``
  );
};

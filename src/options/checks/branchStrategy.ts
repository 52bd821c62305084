import { isObject } from "../../tools/values/predicates.ts";
import { anyText, type Check, members, text } from "./checks.ts";

/** The option `branchStrategy`. */
export const branchStrategy: Check = (value) => {
  const type = isObject(value) ? value["type"] : undefined;
  if (type === "head" || type === "merge-to-head") members("branchStrategy", value, { type: text });
  else if (type === "branch") {
    members("branchStrategy", value, { type: text, branch: anyText, from: text });
    if ((value as { branch?: unknown }).branch === undefined) return "`branch` needs the branch's name";
  } else return '`type` must be "head", "merge-to-head" or "branch"';
  return undefined;
};

export const worktreeBranchStrategy: Check = (value) =>
  isObject(value) && value["type"] === "head"
    ? "with `head` there is no worktree: use `branch` or `merge-to-head`, or run() or interactive() to work in your checkout"
    : branchStrategy(value);

export const branch: Check = (value) =>
  typeof value === "string" ? undefined : "must be the name of the branch to commit to";

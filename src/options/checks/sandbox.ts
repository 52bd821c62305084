import { isObject } from "../../tools/values/predicates.ts";
import { type Check, text } from "./checks.ts";

const isProvider = (value: unknown, types: readonly string[]): boolean =>
  isObject(value) &&
  types.includes(value["type"] as string) &&
  text(value["name"]) === undefined &&
  typeof value["create"] === "function";
export const sandbox: Check = (value) => {
  if (isObject(value) && value["type"] === "none") {
    return "the no-sandbox provider is for interactive sessions only: an unattended agent needs a sandbox";
  }
  return isProvider(value, ["bind-mount", "isolated"])
    ? undefined
    : 'must be a sandbox provider, e.g. docker() from "@missingstudio/sanddune/sandboxes/docker"';
};
export const sandboxOrNone: Check = (value) =>
  isProvider(value, ["bind-mount", "isolated", "none"])
    ? undefined
    : 'must be a sandbox provider, e.g. docker() from "@missingstudio/sanddune/sandboxes/docker", or noSandbox() from "@missingstudio/sanddune/sandboxes/no-sandbox"';

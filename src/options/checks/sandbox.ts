import { type Check, isRecord, text } from "./checks.ts";

const isProvider = (value: unknown, types: readonly string[]): boolean =>
  isRecord(value) &&
  types.includes(value["type"] as string) &&
  text(value["name"]) === undefined &&
  typeof value["create"] === "function";
export const sandbox: Check = (value) => {
  if (isRecord(value) && value["type"] === "none") {
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

import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import type { AgentEvent, AgentProvider, AgentStreamEvent, SandboxRunResult } from "../../../src/index.ts";
import { commandLines } from "../../helpers/processes/processes.ts";

/**
 * Has characters that JSON, URLs and Base64 treat in their own ways. Tests that run at the same time in other processes
 * have another one, or they would find each other's.
 */
export const SECRET = `tok"Zx+81/mQ=${randomBytes(3).toString("hex")}-kR7`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The forms that a secret must not be found in, anywhere. */
export const FORMS: Readonly<Record<string, string>> = {
  plain: SECRET,
  JSON: JSON.stringify(SECRET).slice(1, -1),
  "URL-encoded": encodeURIComponent(SECRET),
  Base64: base64(SECRET).slice(0, -4),
  "Base64 for URLs": Buffer.from(SECRET).toString("base64url").slice(0, -4),
};

/** Which forms of the secret a text holds. */
export const formsIn = (text: string): string[] =>
  Object.keys(FORMS).filter((form) => text.includes(FORMS[form] as string));

const filesBelow = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true })
        .map((name) => join(directory, String(name)))
        .filter((path) => statSync(path).isFile())
    : [];

/** Everything that a run has told about itself, by where it stands. */
export const tracesOf = (
  cwd: string,
  {
    ended,
    events,
  }: { readonly ended: SandboxRunResult | Error; readonly events: readonly AgentStreamEvent[] },
): Record<string, string> => ({
  ...Object.fromEntries(
    filesBelow(join(cwd, ".sanddune"))
      .filter((path) => !path.endsWith("/.env"))
      .map((path) => [path.slice(cwd.length), readFileSync(path, "latin1")]),
  ),
  "as JSON": JSON.stringify(ended),
  "as an object": inspect(ended, {
    depth: Number.POSITIVE_INFINITY,
    showHidden: true,
    maxStringLength: null,
  }),
  message: ended instanceof Error ? `${ended.message} ${ended.stack}` : ended.stdout,
  events: JSON.stringify(events),
  "text of the events": events.map((event) => (event.type === "text" ? event.text : "")).join(""),
});

/** Where the secret is in the clear, and in which form. */
export const leaksIn = (traces: Readonly<Record<string, string>>): string[] =>
  Object.entries(traces).flatMap(([place, text]) => formsIn(text).map((form) => `${place}: ${form}`));

/** An agent whose lines of JSON are events as they are; other lines are raw. */
export const eventAgent = (script: string): AgentProvider => ({
  name: "events",
  buildCommand: () => ({ command: script, stdin: "" }),
  createParser: () => (line, stream) => {
    try {
      return [JSON.parse(line) as AgentEvent];
    } catch {
      return [{ type: "raw", line, stream }];
    }
  },
});

/** Command lines of all processes on this machine that hold the secret. */
export const commandLinesWithSecret = (): string[] =>
  commandLines()
    .map((line) => line.replaceAll("\0", " "))
    .filter((line) => formsIn(line).length > 0);

/** What docker knows about all containers of ours. Those of other tests may go meanwhile. */
export const inspectContainers = (): string => {
  const ids = execFileSync("docker", ["ps", "--all", "--quiet", "--filter", "name=sanddune-"], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((id) => id !== "");
  return ids.length === 0 ? "" : spawnSync("docker", ["inspect", ...ids], { encoding: "utf8" }).stdout;
};

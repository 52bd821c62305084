import { spawnSync } from "node:child_process";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";

/** Both engines, for suites that run against each. */
export const ENGINES = [
  ["docker", docker],
  ["podman", podman],
] as const;

export type EngineName = (typeof ENGINES)[number][0];

/** Calls an engine's client past sanddune, and fails when it does. */
export const callClient = (engine: EngineName, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(engine, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${engine} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
};

export const inspectContainer = (engine: EngineName, name: string): Record<string, Record<string, unknown>> =>
  JSON.parse(callClient(engine, "container", "inspect", name))[0];

/** The names of the containers that carry a run's label. */
export const containersOf = (engine: EngineName, runId: string): string[] =>
  callClient(engine, "ps", "--all", "--filter", `label=sanddune.run=${runId}`, "--format", "{{.Names}}")
    .split("\n")
    .filter(Boolean);

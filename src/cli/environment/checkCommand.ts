import { resolve } from "node:path";
import { Command } from "commander";
import type { TestDescription } from "../../environment/contract.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, terminalColumns } from "../shared/output.ts";
import { textTable } from "../shared/textTable.ts";
import { openEnv, WORKTREE_FLAG } from "./open.ts";
import { performingEnv } from "./performing.ts";

interface CheckFlags {
  readonly worktree?: string;
}

const STOPPED = {
  subject: "The check",
  kept: "The environment was closed.",
  tidying: "closing the environment",
};

const cellsOf = ({ path, description, parameters = {}, isSuite = false }: TestDescription): string[] => [
  isSuite ? `${path}/…` : path,
  Object.entries(parameters)
    .map(([name, { type, default: value }]) => `${name}=${value ?? `<${type}>`}`)
    .join(" ") || "-",
  description ?? (isSuite ? "a suite; its tests are known after its first run" : "-"),
];

const perform = async (signal: AbortSignal, flags: CheckFlags, directory: string): Promise<void> => {
  await using environment = await openEnv(directory, flags, signal);
  const { tests } = await environment.schema({ signal });
  const table = textTable(["TEST", "PARAMETERS", "DESCRIPTION"], tests.map(cellsOf), terminalColumns());
  await print([...table, "", `${resolve(directory)} is ready.`].join("\n"));
};

/** `sanddune environment check`: whether an environment can be used, and which tests it has. */
export const createEnvCheckCommand = (): Command =>
  withExamples(
    new Command("check")
      .description("Prepares the tests of an environment and lists them, without running them.")
      .argument("<dir>", "the environment: a folder with environment.ts or environment.json")
      .option(...WORKTREE_FLAG)
      .action(performingEnv(STOPPED, perform)),
    { title: "Before you give it to an agent", command: "sanddune environment check tests/env" },
  );

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { createRunId } from "../../src/runs/journal/runId.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { openOwnedDirectory } from "../../src/sandboxes/directories/ownedDirectory.ts";
import { chooseSandbox } from "../../src/scenarios/sandbox/chooseSandbox.ts";
import type { ScenarioCommandResult } from "../../src/scenarios/sandbox/commandRunner.ts";
import type { ScenarioSandbox } from "../../src/scenarios/sandbox/scenarioSandbox.ts";
import type { ScenarioSuite } from "../../src/scenarios/suite/suite.ts";
import { afterTest } from "./processes/sideBySide.ts";
import { temporaryDirectory } from "./repository/repository.ts";
import { writeFiles } from "./repository/writeFiles.ts";

/** A suite, and one project of it. */
export interface Scene {
  readonly suite: ScenarioSuite;
  readonly projectPath: string;
  readonly scenarioSandbox: ScenarioSandbox;
  readonly signal: AbortSignal;
}

/** A suite with these files in it, and a project with one file, over which places can be opened. */
export const scenarioScene = async (
  provider: SandboxProvider | "none",
  files: Readonly<Record<string, string>> = {},
): Promise<Scene> => {
  const root = realpathSync(temporaryDirectory());
  writeFiles(root, files);
  const runner = await openOwnedDirectory("scenarios", createRunId());
  afterTest(() => runner.remove());
  const projectPath = join(runner.path, "1-scene");
  writeFiles(projectPath, { "README.md": "# Fixture\n" });
  const suite: ScenarioSuite = {
    root,
    scenarioDir: root,
    fixturesRoot: root,
    recordsDir: join(root, "runs"),
  };
  const scenarioSandbox = chooseSandbox(provider, { suite, projectPath, runner });
  return { suite, projectPath, scenarioSandbox, signal: new AbortController().signal };
};

/** Runs one command in a place for commands, which is closed after it. */
export const runCommand = async (
  { scenarioSandbox, signal }: Scene,
  argv: readonly string[],
  timeoutMs = 30_000,
): Promise<ScenarioCommandResult> => {
  const place = await scenarioSandbox.openForCommands(signal);
  try {
    return await place.run({ argv, timeoutMs, signal });
  } finally {
    await place.close();
  }
};

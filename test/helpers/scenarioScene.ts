import { realpathSync } from "node:fs";
import { join } from "node:path";
import { createRunId } from "../../src/runs/journal/runId.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { openOwnedDirectory } from "../../src/sandboxes/directories/ownedDirectory.ts";
import { sandboxWorkshop } from "../../src/scenarios/sandbox/chooseSandbox.ts";
import type { WorkResult } from "../../src/scenarios/sandbox/commandRunner.ts";
import type { Workshop } from "../../src/scenarios/sandbox/scenarioSandbox.ts";
import type { Suite } from "../../src/scenarios/suite/suite.ts";
import { afterTest } from "./processes/sideBySide.ts";
import { temporaryDirectory } from "./repository/repository.ts";
import { writeFiles } from "./repository/writeFiles.ts";

/** A suite, and one project of it. */
export interface Scene {
  readonly suite: Suite;
  readonly projectPath: string;
  readonly workshop: Workshop;
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
  const suite: Suite = { root, scenarioDir: root, fixturesRoot: root, recordsDir: join(root, "runs") };
  const workshop = sandboxWorkshop(provider, { suite, projectPath, runner });
  return { suite, projectPath, workshop, signal: new AbortController().signal };
};

/** Runs one command in a place for commands, which is closed after it. */
export const runCommand = async (
  { workshop, signal }: Scene,
  argv: readonly string[],
  timeoutMs = 30_000,
): Promise<WorkResult> => {
  const place = await workshop.openForCommands(signal);
  try {
    return await place.run({ argv, timeoutMs, signal });
  } finally {
    await place.close();
  }
};

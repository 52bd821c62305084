import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BindMountSandboxProvider, SandboxMount } from "../../sandboxes/contract.ts";
import { openSandbox } from "./openSandbox.ts";
import { runInSandbox } from "./sandboxCommands.ts";
import { PROJECT_IN_SANDBOX, type ScenarioSandbox, type ScenarioSandboxOptions } from "./scenarioSandbox.ts";
import { suiteMounts } from "./suiteMounts.ts";

type Empty = Parameters<typeof suiteMounts>[1];

const HOME_IN_SANDBOX = "/sanddune/home";

/** Sandboxes that mount the project directory. */
export const bindMountSandbox = (
  provider: BindMountSandboxProvider,
  settings: ScenarioSandboxOptions,
): ScenarioSandbox => {
  const { suite, projectPath } = settings;
  const open = (signal: AbortSignal, suiteOver: (empty: Empty) => readonly SandboxMount[]) =>
    openSandbox(
      settings,
      provider,
      async (options, filesPath) => {
        const homePath = join(filesPath, "home");
        const empty = { directory: join(filesPath, "empty"), file: join(filesPath, "empty-file") };
        await mkdir(homePath);
        await mkdir(empty.directory);
        await writeFile(empty.file, "");
        return provider.create({
          ...options,
          worktreePath: PROJECT_IN_SANDBOX,
          homePath: HOME_IN_SANDBOX,
          mounts: [
            ...suiteOver(empty),
            { hostPath: projectPath, sandboxPath: PROJECT_IN_SANDBOX, readOnly: false },
            { hostPath: homePath, sandboxPath: HOME_IN_SANDBOX, readOnly: false },
          ],
        });
      },
      signal,
    );
  const projectRoot = PROJECT_IN_SANDBOX;
  return {
    name: provider.name,
    projectRoot,
    openForCommands: async (signal) => {
      const { handle, close } = await open(signal, (empty) => suiteMounts(suite.root, empty));
      return { projectRoot, run: (command) => runInSandbox(handle, projectRoot, command), close };
    },
    openForAgent: async (signal) => {
      const { handle, close } = await open(signal, () => []);
      return { handle, projectRoot, close };
    },
  };
};

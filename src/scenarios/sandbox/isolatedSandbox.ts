import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { SandboxError } from "../../errors.ts";
import type { IsolatedSandboxHandle, IsolatedSandboxProvider } from "../../sandboxes/contract.ts";
import { escapeRegExp } from "../../tools/escapeRegExp.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { isPrivateDirectory } from "../suite/privateNames.ts";
import type { ScenarioCommand } from "./commandRunner.ts";
import { copyProjectOut } from "./copyProjectOut.ts";
import { once } from "./once.ts";
import { type OpenSandbox, openSandbox } from "./openSandbox.ts";
import { runInSandbox } from "./sandboxCommands.ts";
import { PROJECT_IN_SANDBOX, type ScenarioSandbox, type ScenarioSandboxOptions } from "./scenarioSandbox.ts";
import { privatePaths } from "./suiteMounts.ts";

const SUITE_DIRECTORY = "sanddune-suite";

const copyContentIn = async (
  handle: IsolatedSandboxHandle,
  from: string,
  to: string,
  isLeftOut = (_name: string): boolean => false,
): Promise<void> => {
  const names = await readdir(from);
  await handle.exec(`mkdir -p -- ${shellQuote(to)}`, { cwd: "/" });
  for (const name of names) {
    if (!isLeftOut(name)) await handle.copyIn(join(from, name), `${to}/${name}`);
  }
};

/** Removes the private files of nested checkouts. No command has run in the sandbox yet. */
const removePrivate = async (
  handle: IsolatedSandboxHandle,
  root: string,
  directory: string,
): Promise<void> => {
  const { directories, files } = privatePaths(root);
  const paths = [...directories, ...files].map((path) => shellQuote(join(directory, relative(root, path))));
  const { exitCode, stderr } = await handle.exec(`rm -rf -- ${paths.join(" ")}`, { cwd: "/" });
  if (exitCode !== 0)
    throw new SandboxError(handle.name, "the suite's private files could not be removed from it", stderr);
};

const homeOf = async (handle: IsolatedSandboxHandle): Promise<string> => {
  const { stdout } = await handle.exec(`printf %s "$HOME"`, { cwd: "/" });
  if (stdout.startsWith("/")) return stdout;
  throw new SandboxError(handle.name, "it has no home directory that the suite could be copied to");
};

/** An isolated sandbox chooses its own paths: replaces those of the host in a command. */
const moved = (command: ScenarioCommand, places: ReadonlyMap<string, string>): ScenarioCommand => {
  const moveIn = (argument: string) =>
    [...places].reduce(
      (text, [from, to]) => text.replace(new RegExp(`${escapeRegExp(from)}(?![\\w.-])`, "g"), () => to),
      argument,
    );
  return { ...command, argv: command.argv.map(moveIn) };
};

/** Isolated sandboxes: the project is copied in, and copied out when the sandbox is closed. */
export const isolatedSandbox = (
  provider: IsolatedSandboxProvider,
  settings: ScenarioSandboxOptions,
): ScenarioSandbox => {
  const { suite, projectPath } = settings;

  const filled = async (sandbox: OpenSandbox<IsolatedSandboxHandle>, signal: AbortSignal) => {
    const { handle, filesPath, close } = sandbox;
    await copyContentIn(handle, projectPath, handle.worktreePath);
    const copyOutAndClose = async () => {
      try {
        // After an abort, the project is not needed.
        if (!signal.aborted) await copyProjectOut(handle, { filesPath, projectPath });
      } catch (error) {
        await close().catch(() => {});
        throw error;
      }
      await close();
    };
    return { handle, projectRoot: handle.worktreePath, close: once(copyOutAndClose) };
  };

  const open = async <Place>(
    signal: AbortSignal,
    fill: (sandbox: OpenSandbox<IsolatedSandboxHandle>) => Promise<Place>,
  ): Promise<Place> => {
    const sandbox = await openSandbox(settings, provider, (options) => provider.create(options), signal);
    try {
      return await fill(sandbox);
    } catch (error) {
      await sandbox.close().catch(() => {});
      throw error;
    }
  };

  return {
    name: provider.name,
    projectRoot: PROJECT_IN_SANDBOX,
    openForCommands: (signal) =>
      open(signal, async (sandbox) => {
        const { handle, projectRoot, close } = await filled(sandbox, signal);
        const suitePath = `${await homeOf(handle)}/${SUITE_DIRECTORY}`;
        await copyContentIn(handle, suite.root, suitePath, isPrivateDirectory);
        await removePrivate(handle, suite.root, suitePath);
        const places = new Map([
          [suite.root, suitePath],
          [PROJECT_IN_SANDBOX, projectRoot],
        ]);
        return {
          projectRoot: PROJECT_IN_SANDBOX,
          run: (command) => runInSandbox(handle, projectRoot, moved(command, places)),
          close,
        };
      }),
    openForAgent: (signal) => open(signal, (sandbox) => filled(sandbox, signal)),
  };
};

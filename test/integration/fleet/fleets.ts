import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentIteration } from "../../../src/agents/contract.ts";
import {
  type FleetEvent,
  type FleetOptions,
  type FleetResult,
  type RunOptions,
  runAll,
  SandboxLostError,
  type ScriptedStep,
  scripted,
  type Tasks,
} from "../../../src/index.ts";
import type { IsolatedSandboxProvider, SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

type Steps = readonly ScriptedStep[] | ((iteration: AgentIteration) => readonly ScriptedStep[]);

/** The options of a run with a scripted agent, in a test-isolated sandbox unless told otherwise. */
export const task = (cwd: string, steps: Steps, overrides: object = {}): RunOptions =>
  ({
    agent: scripted(steps),
    sandbox: testIsolated(),
    prompt: "Work",
    cwd,
    logging: { type: "file", quiet: true },
    ...overrides,
  }) as RunOptions;

export const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch } }) as const;

export const commit = (subject: string): ScriptedStep => ({
  commit: subject,
  files: { [`${subject.replaceAll(/\W/g, "-")}.txt`]: `${subject}\n` },
});

/** Runs a fleet, and writes down what is told of it. */
export const watchFleet = async (
  tasks: Tasks<SandboxProvider, unknown>,
  options: FleetOptions = {},
): Promise<FleetResult & { readonly events: FleetEvent[] }> => {
  const events: FleetEvent[] = [];
  const result = await runAll<SandboxProvider, unknown>(tasks, {
    ...options,
    onProgress: (event) => {
      events.push(event);
      options.onProgress?.(event);
    },
  });
  return { ...result, events };
};

/** A place where agents on the host say that they have come, and wait to be let on. */
export const gate = () => {
  const directory = temporaryDirectory();
  const path = (name: string) => join(directory, name);
  return {
    directory,
    /** The agent's side. */
    wait: (name: string): ScriptedStep => ({
      shell: `touch ${path(name)}.here; until [ -e ${path(name)}.go ]; do sleep 0.02; done`,
    }),
    reached: (name: string) => waitFor(() => existsSync(`${path(name)}.here`)),
    open: (name: string) => writeFileSync(`${path(name)}.go`, ""),
  };
};

/** A sandbox that is lost when `die` is called, as one in another data centre would be: with all its files. */
export const mortal = () => {
  const provider = testIsolated();
  let dies = () => {};
  let count = 0;
  const sandbox: IsolatedSandboxProvider = {
    ...provider,
    create: async (options) => {
      count++;
      const handle = await provider.create(options);
      let isLost = false;
      const death = new Promise<void>((resolve) => {
        dies = () => {
          isLost = true;
          resolve();
        };
      });
      const lost = () => new SandboxLostError("mortal", "its machine is gone");
      return {
        ...handle,
        exec: async (command, execOptions) => {
          if (isLost) throw lost();
          const stop = new AbortController();
          const signals = [stop.signal, ...(execOptions?.signal ? [execOptions.signal] : [])];
          const running = handle.exec(command, { ...execOptions, signal: AbortSignal.any(signals) });
          await Promise.race([running.catch(() => {}), death]);
          if (!isLost) return running;
          stop.abort();
          await running.catch(() => {});
          throw lost();
        },
        copyFileOut: async (from, to) => {
          if (isLost) throw lost();
          return handle.copyFileOut(from, to);
        },
      };
    },
  };
  return { sandbox, die: () => dies(), created: () => count };
};

import type { TestProject, Vitest } from "vitest/node";
import { findMissingRuntimes, type MissingRuntimes, readRuntimeEnv } from "./runtimeChecks.ts";
import { TestRun } from "./testRun.ts";

declare module "vitest" {
  interface ProvidedContext {
    missingRuntimes: MissingRuntimes;
  }
}

interface Begun {
  readonly run: TestRun;
  readonly missingRuntimes: MissingRuntimes;
}

/** Each project loads this module for itself. */
const shared = globalThis as { sandduneTestRun?: Promise<Begun> };

const begin = async (vitest: Vitest): Promise<Begun> => {
  readRuntimeEnv();
  const directories = [vitest.getRootProject(), ...vitest.projects].map(({ tmpDir }) => tmpDir);
  const [run, missingRuntimes] = await Promise.all([TestRun.begin(directories), findMissingRuntimes()]);
  return { run, missingRuntimes };
};

/** Called for each project, and the first time begins for all of them. */
export default async ({ provide, vitest }: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const isFirst = shared.sandduneTestRun === undefined;
  shared.sandduneTestRun ??= begin(vitest);
  const { run, missingRuntimes } = await shared.sandduneTestRun;
  provide("missingRuntimes", missingRuntimes);
  return isFirst ? () => run.end() : undefined;
};

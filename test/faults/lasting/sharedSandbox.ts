import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createSandbox, type Sandbox } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { makeRepository } from "../../helpers/repository/repository.ts";

/** A sandbox on branch `agent/work` of a repository: for all tests of a suite. */
export const useSharedSandbox = (): (() => Sandbox) => {
  let cwd: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-shared-")));
    makeRepository(cwd);
    sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), cwd });
  });
  afterAll(async () => {
    await sandbox.close();
    rmSync(cwd, { recursive: true });
  });
  return () => sandbox;
};

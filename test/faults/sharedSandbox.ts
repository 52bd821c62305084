import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git } from "../helpers/repository.ts";

/** A sandbox on branch `agent/work` of a repository with one, empty, commit: for all tests of a suite. */
export const useSharedSandbox = (): (() => Sandbox) => {
  let cwd: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-shared-")));
    git(cwd, "init", "--quiet", "--initial-branch=main");
    git(cwd, "config", "user.name", "Dev");
    git(cwd, "config", "user.email", "dev@example.com");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Initial commit");
    sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), cwd });
  });
  afterAll(async () => {
    await sandbox.close();
    rmSync(cwd, { recursive: true });
  });
  return () => sandbox;
};

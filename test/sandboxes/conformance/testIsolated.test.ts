import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount, openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("test-isolated conforms", () => {
  const opened: IsolatedSandboxHandle[] = [];

  describe("in each case", () => {
    const open = async (options: Parameters<typeof openIsolated>[1]) => {
      const sandbox = await openIsolated(testIsolated(), options);
      opened.push(sandbox);
      return sandbox;
    };
    testConformance(open, { ownsProcessNamespace: false });
  });

  test("with one sandbox for all cases but those that end theirs or start from a snapshot, and all are closed", () => {
    expect(opened).toHaveLength(1 + 4 + 5);
    expect(opened.filter(({ worktreePath }) => existsSync(worktreePath))).toEqual([]);
  });
});

describeWith(["bubblewrap"], "bubblewrap conforms", () => {
  testConformance(async (options) => (await openBindMount(bubblewrap(), options)).sandbox);
});

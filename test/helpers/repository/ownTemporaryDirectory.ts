import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";

/**
 * Gives the tests of a file, and what they start, a temporary directory of their own, and checks that nothing is left in
 * it. In the one that all share, other files leave things for a moment.
 */
export const useOwnTemporaryDirectory = (): void => {
  let path: string;
  let former: string | undefined;
  // Not before: neither hook is called for a file whose tests are all skipped.
  beforeAll(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-own-")));
    chmodSync(path, 0o755);
    former = process.env["TMPDIR"];
    process.env["TMPDIR"] = path;
  });
  afterAll(() => {
    if (former === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = former;
    const left = readdirSync(path);
    rmSync(path, { recursive: true, force: true });
    expect(left).toEqual([]);
  });
};

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import { isIgnored, isTracked, refuseTrackedEnvFile } from "../../src/git/trackedFile.ts";
import { temporaryRepository } from "../helpers/repository/repository.ts";
import { commitFiles } from "./commitFiles.ts";

describe("a path", () => {
  it("is ignored, or not", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/info/exclude"), "dir/\n-n\n");
    const ask = (path: string) => runAtBoundary(isIgnored(cwd, path));
    expect(await Promise.all(["dir/", "dir", "-n", "README.md"].map(ask))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("is tracked also by another case, or as one of its directories", async () => {
    const cwd = temporaryRepository();
    const ask = (path: string) => runAtBoundary(isTracked(cwd, path));
    expect(await ask(".sanddune/.env")).toBe(false);
    commitFiles(cwd, { ".Sanddune": "" });
    expect(await ask(".sanddune/.env")).toBe(true);
    await expect(runAtBoundary(refuseTrackedEnvFile(cwd))).rejects.toThrow("git rm --cached .sanddune/.env");
  });
});

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeDirectory } from "../../src/process/removeDirectory.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

it("removes read-only directories", async () => {
  const path = join(temporaryDirectory(), "cache");
  mkdirSync(path);
  writeFileSync(join(path, "file"), "");
  chmodSync(path, 0o500);
  await removeDirectory(path);
  expect(existsSync(path)).toBe(false);
});

it.skipIf(!existsSync("/proc/self"))("rejects with a HostFileError if the system refuses", async () => {
  const path = `/proc/${process.pid}/fdinfo`;
  await expect(removeDirectory(path)).rejects.toMatchObject({
    name: "HostFileError",
    path: expect.stringContaining(path),
  });
});

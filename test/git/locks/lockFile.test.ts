import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tryLock } from "../../../src/git/locks/lockFile.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const newLock = () => join(temporaryDirectory(), "locks", "a.lock");

const plant = (path: string, owner: object) => {
  const attempt = tryLock(path, "to make the directory");
  if (attempt.acquired) attempt.release();
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), purpose: "planted", since: "then", ...owner }));
};

it("is taken by one only, who is named to the others", () => {
  const path = newLock();
  expect(tryLock(path, "run one").acquired).toBe(true);
  const second = tryLock(path, "run two");
  expect(second).toMatchObject({ acquired: false, owner: { purpose: "run one", pid: process.pid } });
});

it("can be taken again once it is released, and leaves nothing behind", () => {
  const path = newLock();
  for (let round = 0; round < 3; round++) {
    const attempt = tryLock(path, "run");
    if (!attempt.acquired) throw new Error("not acquired");
    attempt.release();
    attempt.release();
  }
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

it("clears away what a process that was killed while it took a lock has left", () => {
  const path = newLock();
  plant(path, {});
  rmSync(path);
  writeFileSync(`${path}.${2 ** 22 + 1}.0123abcd`, "half");
  writeFileSync(`${path}.${process.pid}.0123abcd`, "mine");
  const attempt = tryLock(path, "run");
  if (attempt.acquired) attempt.release();
  expect(readdirSync(join(path, ".."))).toEqual([`a.lock.${process.pid}.0123abcd`]);
});

describe("the lock of an owner that is gone is taken over", () => {
  it.each([
    ["whose process has ended", { pid: 2 ** 22 + 1 }],
    ["whose pid belongs to another process now", { startTime: "1" }],
    ["from before a reboot", { bootId: "another-boot" }],
  ])("%s", (_, owner) => {
    const path = newLock();
    plant(path, owner);
    expect(tryLock(path, "run").acquired).toBe(true);
    expect(JSON.parse(readFileSync(path, "utf8")).pid).toBe(process.pid);
  });
});

describe("the lock of an owner that cannot be seen from here is respected", () => {
  it.each([
    ["on another machine", { host: "elsewhere", pid: 1 }],
    ["in another pid namespace", { pidNamespace: "pid:[1]", pid: 2 ** 22 + 1 }],
  ])("%s", (_, owner) => {
    const path = newLock();
    plant(path, owner);
    expect(tryLock(path, "run")).toMatchObject({ acquired: false, owner: { purpose: "planted" } });
  });

  it("when its file cannot be read as a lock", () => {
    const path = newLock();
    plant(path, {});
    writeFileSync(path, '{"pid": 12');
    expect(tryLock(path, "run")).toEqual({ acquired: false, owner: undefined });
  });
});

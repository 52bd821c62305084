import { describe, expect, it } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import {
  fingerprintOf,
  lookInAccount,
  readCloudPlace,
  writeCloudPlace,
} from "../../../src/sandboxes/services/account.ts";

const HOUR_MS = 60 * 60_000;
const LONG_AGO = -48 * HOUR_MS;
const KEY = "a key that nobody may know";
const account = { key: fingerprintOf(KEY), host: "" };
const other = { key: fingerprintOf("another key"), host: "" };
const nothing = async () => undefined;

const left = (place?: string) => ({
  sandboxName: "sanddune-x",
  runId: "x",
  temporaryDirectory: "/tmp",
  ...(place !== undefined && { place }),
});
const read = (place?: string) => readCloudPlace("cloud", left(place), ["key", "host"]);
const look = (
  { lifetimeMs = HOUR_MS, present = other }: { lifetimeMs?: number; present?: typeof account },
  find: () => Promise<string | undefined>,
) =>
  lookInAccount(
    read(writeCloudPlace(account, lifetimeMs)),
    present,
    find,
    () => new SandboxError("cloud", "it is elsewhere"),
  );

describe("the place of a sandbox in a cloud account", () => {
  it("is written and read again, without the key", () => {
    const place = writeCloudPlace(account, HOUR_MS);
    expect(read(place)).toEqual({ account, endsByMs: expect.any(Number) });
    expect(place).not.toContain(KEY);
    expect(account.key).toMatch(/^[0-9a-f]{12}$/);
  });

  it("is not there in older journals", () => {
    expect(read()).toBe(undefined);
  });

  const endsBy = new Date().toISOString();
  it.each(
    [
      ["", "null", "[]", "7", '"x"', "{}"],
      [JSON.stringify({ key: "k", endsBy }), JSON.stringify({ key: "k", host: 7, endsBy })],
      [JSON.stringify({ key: "k", host: "", endsBy: "soon" }), JSON.stringify({ key: "k", host: "" })],
      [
        JSON.stringify({ key: "$(id)", host: "", endsBy }),
        JSON.stringify({ key: "\u001b[2J", host: "", endsBy }),
      ],
      [JSON.stringify({ key: "k".repeat(101), host: "", endsBy })],
      [JSON.stringify({ key: "k", host: "", endsBy: "2026-13-41T00:00:00.000Z" })],
    ].flat(),
  )("is not believed if it is %s", (place) => {
    expect(() => read(place)).toThrow("does not name the account of the sandbox sanddune-x");
  });
});

describe("a sandbox that is looked for", () => {
  it("is gone if its own account does not have it", async () => {
    expect(await look({ present: account }, nothing)).toBe(undefined);
  });

  it("may be anywhere if another account does not have it, or does not answer", async () => {
    await expect(look({}, nothing)).rejects.toThrow("it is elsewhere");
    await expect(look({}, () => Promise.reject(new Error("forbidden")))).rejects.toThrow("it is elsewhere");
  });

  it("is where it is found: keys of an account are replaced", async () => {
    expect(await look({}, async () => "found")).toBe("found");
  });

  it("is gone from every account once its lifetime is over", async () => {
    expect(await look({ lifetimeMs: LONG_AGO }, nothing)).toBe(undefined);
  });

  it("is not said to be gone by its own account if that does not answer", async () => {
    const silent = () => Promise.reject(new Error("silence"));
    await expect(look({ present: account }, silent)).rejects.toThrow("silence");
    await expect(look({ lifetimeMs: LONG_AGO }, silent)).rejects.toThrow("silence");
  });
});

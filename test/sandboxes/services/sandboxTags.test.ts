import { hostname } from "node:os";
import { expect, it } from "vitest";
import { sandboxTags } from "../../../src/sandboxes/services/sandboxTags.ts";

it("tags name the owner of a sandbox, and when it expires", () => {
  const before = Date.now();
  const { run, owner, expires } = sandboxTags("20300102-030405-abcdef", 60_000);
  expect({ run, owner }).toEqual({ run: "20300102-030405-abcdef", owner: `${hostname()}:${process.pid}` });
  expect(Date.parse(expires)).toBeGreaterThanOrEqual(before + 60_000);
  expect(Date.parse(expires)).toBeLessThanOrEqual(Date.now() + 60_000);
  expect(new Date(expires).toISOString()).toBe(expires);
});

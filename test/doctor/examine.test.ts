import { expect, test } from "vitest";
import { examine } from "../../src/doctor/examine.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../helpers/repository/repository.ts";

test("a bug in a check is thrown, and is not reported as a check that did not finish", async () => {
  const bug = new TypeError("undefined is not a function");
  const provider = Object.defineProperty({ ...testIsolated() }, "type", {
    get: () => {
      throw bug;
    },
  });
  await expect(examine({ cwd: temporaryRepository() }, undefined, provider)).rejects.toBe(bug);
});

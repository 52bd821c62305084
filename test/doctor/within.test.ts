import { expect, test } from "vitest";
import { within } from "../../src/doctor/within.ts";
import { SandboxError } from "../../src/errors.ts";

test("a foreseen error is the finding of a check, and a bug is thrown", async () => {
  const error = new SandboxError("docker", "it does not answer");
  const findings = await within("docker", "Try it yourself.", () => Promise.reject(error));
  expect(findings).toMatchObject([{ title: "docker", state: "failed", fix: "Try it yourself." }]);
  const bug = new TypeError("undefined is not a function");
  await expect(within("docker", "Try it yourself.", () => Promise.reject(bug))).rejects.toBe(bug);
});

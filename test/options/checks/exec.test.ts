import { describe, expect, it } from "vitest";
import { validateExec } from "../../../src/options/checks/entryPoints.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";
import { expectRefused } from "./scenes.ts";

const listener = () => {};

describe("sandbox.exec()", () => {
  const check = (...args: unknown[]) => (validateExec as (...all: unknown[]) => void)(...args);

  it("takes what is right", () => {
    const options = {
      cwd: "/",
      env: { A: "b" },
      stdin: "x",
      timeoutMs: 1,
      captureBytes: 1,
      onLine: listener,
    };
    expect(thrownBy(() => check("id", options))).toBeUndefined();
  });

  it.each<[string, unknown[], string, RegExp]>([
    ["no command", [undefined, {}], "command", /non-empty/],
    ["an empty command", ["", {}], "command", /non-empty/],
    ["an argv", [["ls", "-l"], {}], "command", /string/],
    ["null for options", ["id", null], "options", /must be an object/],
    ["a text for options", ["id", "fast"], "options", /must be an object/],
    ["an option that does not exist", ["id", { timeout: 5 }], "timeout", /no such option.*timeoutMs/],
    ["root, which is for hooks", ["id", { sudo: true }], "sudo", /no such option/],
    ["an input that is none", ["cat", { stdin: 7 }], "stdin", /string, bytes/],
    ["env vars that are no object", ["id", { env: "A=b" }], "env", /must be an object/],
    ["an env var that is no text", ["id", { env: { A: () => "b" } }], "env", /\bA\b/],
    ["nothing to keep of the output", ["id", { captureBytes: 0 }], "captureBytes", /1 or more/],
    ["half a byte", ["id", { captureBytes: 0.5 }], "captureBytes", /whole number/],
    ["no time", ["id", { timeoutMs: 0 }], "timeoutMs", /above 0/],
    ["a signal that is none", ["id", { signal: {} }], "signal", /AbortSignal/],
    ["a listener that is none", ["id", { onLine: "log" }], "onLine", /function/],
    ["a listener that it has not", ["id", { onActivity: listener }], "onActivity", /no such option/],
    ["an empty cwd", ["id", { cwd: "" }], "cwd", /non-empty/],
  ])("refuses %s", (_, args, option, problem) => {
    expectRefused(() => check(...args), option, problem);
  });
});

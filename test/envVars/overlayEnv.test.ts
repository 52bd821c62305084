import { describe, expect, it } from "vitest";
import { overlayEnv } from "../../src/engine/plan/planEnv.ts";
import type { EnvVars } from "../../src/index.ts";

const ask = () => "asked for";
const FROM_COMMAND = { command: "pass show it" };

describe("env vars of a call, over those of the sandbox that it takes place in", () => {
  it.each<[string, EnvVars, EnvVars, EnvVars]>([
    ["nothing at all", {}, {}, {}],
    ["what only the sandbox has", { A: "outer" }, {}, { A: "outer" }],
    ["what only the call has", {}, { A: "own" }, { A: "own" }],
    ["both, where they differ in name", { A: "outer" }, { B: "own" }, { A: "outer", B: "own" }],
    ["that of the call, where both have it", { A: "outer" }, { A: "own" }, { A: "own" }],
    ["an empty value of the call's", { A: "outer" }, { A: "" }, { A: "" }],
    ["a function over a text", { A: "outer" }, { A: ask }, { A: ask }],
    ["a command over a function", { A: ask }, { A: FROM_COMMAND }, { A: FROM_COMMAND }],
    ["that of the sandbox, where the call only names it", { A: "outer" }, { A: undefined }, { A: "outer" }],
    ["a bare name, where nobody has a value", {}, { A: undefined }, { A: undefined }],
    ["a bare name of the sandbox's", { A: undefined }, {}, { A: undefined }],
    ["the value of the call, where the sandbox only names it", { A: undefined }, { A: "own" }, { A: "own" }],
    ["names that objects have anyway", {}, { constructor: undefined }, { constructor: undefined }],
  ])("are %s", (_, outer, own, expected) => {
    const result = overlayEnv(outer, own);
    expect(result).toStrictEqual(expected);
  });

  it("leave both as they were", () => {
    const [outer, own] = [Object.freeze({ A: "outer" }), Object.freeze({ A: "own" })];
    expect(overlayEnv(outer, own)).toEqual({ A: "own" });
    expect([outer, own]).toEqual([{ A: "outer" }, { A: "own" }]);
  });
});

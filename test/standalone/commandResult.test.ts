import { expect, it } from "vitest";
import { commandResult } from "../../src/standalone/commandResult.ts";

const result = commandResult({ exitCode: 3, stdout: "out", stderr: "err" }, 12);

it("a result can be destructured by name and by position", () => {
  const { exitCode, stdout, stderr, durationMs } = result;
  expect({ exitCode, stdout, stderr, durationMs }).toEqual({
    exitCode: 3,
    stdout: "out",
    stderr: "err",
    durationMs: 12,
  });
  const [code, out, err, ...others] = result;
  expect([code, out, err, others]).toEqual([3, "out", "err", []]);
});

it("a result unpacks to the plain tuple", () => {
  expect(Object.keys(result.unpack())).toEqual(["0", "1", "2"]);
  const [code, out, err] = result.unpack();
  expect([code, out, err]).toEqual([3, "out", "err"]);
});

it("a result has its names as JSON, and cannot be changed", () => {
  expect(JSON.parse(JSON.stringify(result))).toEqual({
    exitCode: 3,
    stdout: "out",
    stderr: "err",
    durationMs: 12,
  });
  expect(() => Object.assign(result, { exitCode: 0 })).toThrow(TypeError);
});

import { expect, test } from "vitest";
import { parseJson, parseObject } from "../../../src/tools/json/parseJson.ts";
import {
  isAmount,
  isCount,
  isDate,
  isText,
  listOf,
  objectWith,
  oneOf,
  optional,
  orNull,
} from "../../../src/tools/values/predicates.ts";

test("accepts an object whose fields have the expected forms, and ignores the others", () => {
  const isNote = objectWith({
    at: isDate,
    kind: oneOf("kept", "removed"),
    bytes: isCount,
    names: listOf(isText),
    reason: optional(isText),
    error: orNull(isText),
  });
  const note = { at: "2026-01-02T03:04:05Z", kind: "kept", bytes: 0, names: [], error: null, other: 1 };
  expect(isNote(note)).toBe(true);
  const wrong = [
    { at: "yesterday" },
    { kind: "lost" },
    { bytes: -1 },
    { bytes: 0.5 },
    { names: ["a", 1] },
    { reason: null },
    { error: undefined },
  ];
  for (const part of wrong) expect(isNote({ ...note, ...part }), JSON.stringify(part)).toBe(false);
  for (const value of [undefined, null, "text", [note]]) expect(isNote(value)).toBe(false);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, "1", null])("refuses %s as an amount", (value) => {
  expect(isAmount(value)).toBe(false);
});

test("reads JSON without throwing", () => {
  expect(parseJson("[1]")).toEqual([1]);
  expect(parseJson("{ torn")).toBeUndefined();
  expect(parseObject(' {"a": 1}\n')).toEqual({ a: 1 });
  for (const text of ["[1]", "null", '"{}"', "{ torn", ""]) expect(parseObject(text)).toBeUndefined();
});

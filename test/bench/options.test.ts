import { expect, test } from "vitest";
import { parseOptions, selectNames } from "../../bench/options.mjs";

const names = ["docker-20", "docker-20000", "docker-head", "flood"];

test("without arguments everything is measured, with the peer", () => {
  expect(parseOptions([])).toMatchObject({ wanted: [], rounds: undefined, hasPeer: true, isCheck: false });
  expect(selectNames(names, [])).toEqual(names);
});

test("names and rounds can be given", () => {
  expect(parseOptions(["flood", "--rounds", "3", "--no-peer", "--check"])).toMatchObject({
    wanted: ["flood"],
    rounds: 3,
    hasPeer: false,
    isCheck: true,
  });
});

test("a name stands for itself and for the names that go on with a dash", () => {
  expect(selectNames(names, ["docker-20"])).toEqual(["docker-20"]);
  expect(selectNames(names, ["docker"])).toEqual(["docker-20", "docker-20000", "docker-head"]);
});

test("an unknown name is refused with the known ones", () => {
  expect(() => selectNames(names, ["dock"])).toThrow(
    "There is no benchmark dock: expected one of docker-20, ",
  );
});

test.each(["0", "-1", "1.5", "many"])("%s rounds are refused", (rounds) => {
  expect(() => parseOptions([`--rounds=${rounds}`])).toThrow(`not ${rounds}.`);
});

test("--check does not go with --update", () => {
  expect(() => parseOptions(["--check", "--update"])).toThrow("--check writes nothing");
});

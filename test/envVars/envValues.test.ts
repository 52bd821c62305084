import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEnvValues } from "../../src/envVars/envValues.ts";
import { EnvValueError } from "../../src/errors.ts";
import type { EnvValue } from "../../src/options/envVars.ts";
import { processIsAlive, waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const read = (values: Readonly<Record<string, EnvValue>>, signal = new AbortController().signal) =>
  readEnvValues(new Map(Object.entries(values)), signal);

const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => expect.fail("there was no failure"),
    (error) => error,
  );

/** A command that says its process id in a file, and goes on for ever. */
const endless = () => {
  const file = join(temporaryDirectory(), "pid");
  return {
    file,
    command: `trap '' TERM; echo $$ > ${file}.new; mv ${file}.new ${file}; while :; do sleep 1; done`,
    isAlive: () => processIsAlive(Number(readFileSync(file, "utf8"))),
  };
};

it("values are what they say, what functions return and what commands print; all but public ones are secrets", async () => {
  const { values, secrets } = await read({
    A: "as it is",
    B: () => "at once",
    C: async () => "later",
    D: { command: "printf 'two\\nlines\\n\\n'" },
    E: { public: "for everybody" },
  });
  expect(values).toEqual({ A: "as it is", B: "at once", C: "later", D: "two\nlines", E: "for everybody" });
  expect([...secrets.keys()]).toEqual(["A", "B", "C", "D"]);
});

const FAILING: Readonly<Record<string, [EnvValue, RegExp]>> = {
  "a command that fails": [{ command: "echo locked >&2; exit 3" }, /exit code 3.*locked/s],
  "a command that does not exist": [{ command: "no-such-program-here" }, /exit code 127/],
  "a command that hangs": [{ command: "echo waiting >&2; sleep 600", timeoutMs: 300 }, /300 ms/],
  "a command that is killed": [{ command: "kill -9 $$" }, /exit code 137/],
  "a command that prints too much": [{ command: "head -c 200000 /dev/zero | tr '\\0' x" }, /longer than/],
  "a command that prints nothing": [{ command: "echo" }, /printed nothing/],
  "a command that prints NUL": [{ command: "printf 'a\\0b'" }, /NUL/],
  "a function that throws": [
    () => {
      throw new Error("vault is sealed");
    },
    /vault is sealed/,
  ],
  "a function that rejects": [() => Promise.reject(new Error("vault is sealed")), /vault is sealed/],
  "a function that returns no string": [(() => 42) as never, /did not return a string/],
  "a function that returns nothing": [(async () => undefined) as never, /did not return a string/],
  "a value with NUL": ["a\0b", /NUL/],
  "a value that is too long": ["x".repeat(130 * 1024), /longer than/],
};

describe("a value that cannot be had is an EnvValueError that names the key:", () => {
  it.each(Object.entries(FAILING))("%s", async (_, [value, message]) => {
    const error = await failureOf(read({ FINE: "fine", BROKEN: value }));
    expect(error).toBeInstanceOf(EnvValueError);
    expect(error).toMatchObject({ key: "BROKEN", message: expect.stringMatching(message) });
    expect(error.message).toContain("BROKEN");
  });

  it("the cause of a function's failure is kept", async () => {
    const cause = new Error("vault is sealed");
    expect((await failureOf(read({ A: () => Promise.reject(cause) }))).cause).toBe(cause);
  });

  it("other commands are ended with it", async () => {
    const { file, command, isAlive } = endless();
    const broken = `until [ -e ${file} ]; do sleep 0.02; done; exit 1`;
    await failureOf(read({ SLOW: { command }, BROKEN: { command: broken } }));
    expect(isAlive()).toBe(false);
  });
});

describe("an abort", () => {
  const reason = new Error("changed my mind");

  it("ends the command, and is the reason", async () => {
    const { file, command, isAlive } = endless();
    const controller = new AbortController();
    const reading = failureOf(read({ A: { command } }, controller.signal));
    await waitFor(() => existsSync(file));
    controller.abort(reason);
    expect(await reading).toBe(reason);
    expect(isAlive()).toBe(false);
  });

  it("does not wait for a function", async () => {
    const controller = new AbortController();
    const A = () => {
      controller.abort(reason);
      return new Promise<string>(() => {});
    };
    expect(await failureOf(read({ A }, controller.signal))).toBe(reason);
  });
});

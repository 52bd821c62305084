import { describe, expect, it } from "vitest";
import { AgentFailedError } from "../../src/errors.ts";
import { redactData } from "../../src/redaction/redactData.ts";
import { Redactor } from "../../src/redaction/redactor.ts";

const SECRET = "tok-Zx81mQv9pLw4";
const redactor = new Redactor(new Map([["KEY", SECRET]]));

describe("plain data", () => {
  it("is redacted in all its strings, at any depth, keys included", () => {
    const data = { a: [`x ${SECRET}`, { b: SECRET }], [`k-${SECRET}`]: 1, n: null, u: undefined, t: true };
    expect(redactData(redactor, data)).toEqual({
      a: ["x [redacted KEY]", { b: "[redacted KEY]" }],
      "k-[redacted KEY]": 1,
      n: null,
      u: undefined,
      t: true,
    });
    expect(data.a[0]).toBe(`x ${SECRET}`);
  });

  it("keeps dates", () => {
    const timestamp = new Date(0);
    expect(redactData(redactor, { timestamp }).timestamp).toBe(timestamp);
  });

  it("is redacted although it contains itself", () => {
    const data: Record<string, unknown> = { secret: SECRET };
    data["self"] = data;
    expect(redactData(redactor, data)["secret"]).toBe("[redacted KEY]");
  });

  it("keeps a key called __proto__ a key", () => {
    const data = redactData(redactor, JSON.parse('{"__proto__": {"isAdmin": true}}'));
    expect(Object.keys(data)).toEqual(["__proto__"]);
    expect(data.isAdmin).toBeUndefined();
  });

  it("may be a map or a set that contains itself", () => {
    const map = new Map<string, unknown>([["secret", SECRET]]);
    const set = new Set<unknown>([map]);
    map.set("a", map).set("b", set);
    expect(redactData(redactor, map).get("secret")).toBe("[redacted KEY]");
  });

  it("is redacted where a secret is a number", () => {
    const pin = new Redactor(new Map([["PIN", "48151623"]]));
    expect(JSON.stringify(redactData(pin, { pin: 48151623 }))).not.toContain("48151623");
  });
});

/** Everything that can be read off an error, however deep. */
const everything = (value: unknown, seen = new Set<unknown>()): string => {
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.has(value)) return "";
  seen.add(value);
  if (value instanceof Map || value instanceof Set) return everything([...value], seen);
  const names: PropertyKey[] = [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)];
  return names.map((name) => `${String(name)}=${everything(Reflect.get(value, name), seen)}`).join("\n");
};

const withFields = (fields: object): Error => Object.assign(new Error("It failed"), fields);

const ERRORS: Readonly<Record<string, () => Error>> = {
  "its message and stack": () => new Error(`bad ${SECRET}`),
  "the fields of an error of ours": () => new AgentFailedError("a", SECRET, 1, `words ${SECRET}`),
  "its cause": () => new Error("outer", { cause: new Error(SECRET) }),
  "the cause of its cause": () => new Error("a", { cause: new Error("b", { cause: new TypeError(SECRET) }) }),
  "a cause that is a string": () => new Error("outer", { cause: `just ${SECRET}` }),
  "a cause that is an object": () => new Error("outer", { cause: { response: { body: SECRET } } }),
  "errors in a list": () => new AggregateError([new Error(SECRET), new Error("x")], "several"),
  "lists and objects in it": () =>
    withFields({ args: ["-H", SECRET], config: { headers: { auth: SECRET } } }),
  "an error among its fields": () => withFields({ inner: new Error(SECRET) }),
  "an error in an object among its fields": () => withFields({ details: { error: new Error(SECRET) } }),
  "a field that cannot be enumerated": () =>
    Object.defineProperty(new Error("x"), "hidden", { value: SECRET, writable: true, configurable: true }),
  "a field without a prototype": () =>
    withFields({ bare: Object.assign(Object.create(null), { secret: SECRET }) }),
  "a map and a set": () => withFields({ map: new Map([["k", SECRET]]), set: new Set([SECRET]) }),
  "an instance of a class": () =>
    withFields({
      request: new (class {
        url = `https://host/?key=${SECRET}`;
      })(),
    }),
};

describe("an error is redacted in", () => {
  it.each(Object.entries(ERRORS))("%s", (_, create) => {
    const error = create();
    expect(everything(error)).toContain(SECRET);
    redactData(redactor, error);
    expect(everything(error)).not.toContain(SECRET);
  });

  it("place: it stays the same error, of the same class", () => {
    const error = new AgentFailedError("a", SECRET, 1, "");
    redactData(redactor, error);
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ name: "AgentFailedError", exitCode: 1, problem: "[redacted KEY]" });
  });
});

describe("an error that is hard to redact does no harm:", () => {
  it("one that causes itself", () => {
    const error = new Error(SECRET);
    error.cause = new Error(SECRET, { cause: error });
    redactData(redactor, error);
    expect(everything(error)).not.toContain(SECRET);
  });

  it("one whose fields contain themselves", () => {
    const config: Record<string, unknown> = { secret: SECRET };
    config["self"] = config;
    const error = withFields({ config });
    redactData(redactor, error);
    expect(everything(error)).not.toContain(SECRET);
  });

  it("one that is frozen", () => {
    expect(() => redactData(redactor, Object.freeze(new Error(SECRET)))).not.toThrow();
  });

  it("one with a field that throws when it is read", () => {
    const error = new Error(SECRET);
    Object.defineProperty(error, "request", {
      get: () => {
        throw new Error("not now");
      },
    });
    redactData(redactor, error);
    expect(error.message).toBe("[redacted KEY]");
  });

  it("errors in a list stay errors", () => {
    const error = new AggregateError([new TypeError("inner")], "several");
    redactData(redactor, error);
    expect(error.errors[0]).toBeInstanceOf(TypeError);
  });
});

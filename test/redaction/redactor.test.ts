import { describe, expect, it } from "vitest";
import { redactData } from "../../src/redaction/redactData.ts";
import { Redactor } from "../../src/redaction/redactor.ts";

const redactorFor = (...values: string[]) =>
  new Redactor(new Map(values.map((value, index) => [`KEY${index === 0 ? "" : index + 1}`, value])));

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const wrapped = (text: string, width: number): string => text.replace(new RegExp(`.{${width}}`, "g"), "$&\n");

const TOKEN = "tok-Zx81+mQ/v9~pLw4=e";
const LONG = "longSecret0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-the-end-of-it";
const AWKWARD = `p"a\\s s/w+o*r'd (&%ü)!~`;
const KEY_FILE = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAASCBKcwggSjAgEAAo\n-----END KEY-----";

/** As programs in other languages do it. */
const percentEncode = (text: string, unreserved: RegExp): string =>
  [...text]
    .map((character) =>
      unreserved.test(character)
        ? character
        : [...Buffer.from(character)]
            .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
            .join(""),
    )
    .join("");

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "as JSON": (text) => JSON.stringify(text),
  "as JSON with escaped slashes": (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  "as JSON in ASCII only": (text) =>
    JSON.stringify(text).replace(
      /[\u0080-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  "as JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "with encodeURIComponent": encodeURIComponent,
  "with encodeURIComponent, in lower case": (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  "with encodeURI": encodeURI,
  "as a form field": (text) => new URLSearchParams({ t: text }).toString(),
  "as RFC 3986 says": (text) => percentEncode(text, /[A-Za-z0-9._~-]/),
  "URL-encoded but for slashes": (text) => percentEncode(text, /[A-Za-z0-9._~/-]/),
  "in Base64": base64,
  "in Base64 for URLs": base64url,
  "in Base64, with a line end": (text) => base64(`${text}\n`),
  "in the Base64 of user and password": (text) => base64(`user:${text}`),
  "in lines of Base64": (text) => wrapped(base64(text), 76),
  "in shorter lines of Base64": (text) => wrapped(base64(text), 64),
};

/** What of a secret can still be recognised: any piece of its encoding that is this long. */
const TELLING_LENGTH = 12;
const remainders = (encoded: string, redacted: string): string[] => {
  const compact = redacted.replaceAll(/\s/g, "");
  const source = encoded.replaceAll(/\s/g, "");
  return Array.from({ length: Math.max(0, source.length - TELLING_LENGTH + 1) }, (_, at) =>
    source.slice(at, at + TELLING_LENGTH),
  ).filter((piece) => compact.includes(piece));
};

for (const [title, secret] of Object.entries({
  "a token": TOKEN,
  "a long secret": LONG,
  "an awkward one": AWKWARD,
})) {
  describe(`${title} is found`, () => {
    it.each(Object.entries(ENCODINGS))("%s", (_, encode) => {
      const encoded = encode(secret);
      const redacted = redactorFor(secret).text(`before ${encoded} after`);
      expect(redacted).toMatch(/^before [\s\S]*\[redacted KEY\][\s\S]* after$/);
      expect(redacted).not.toContain(encoded);
      expect(remainders(encoded, redacted)).toEqual([]);
    });
  });
}

describe("in the Base64 of a longer text a secret is found wherever it stands", () => {
  const offsets = Array.from({ length: 60 }, (_, offset) => offset);

  it.each([TOKEN, LONG])("in one line: %s", (secret) => {
    const redactor = redactorFor(secret);
    const missed = offsets.filter((offset) => {
      const encoded = base64(`${"x".repeat(offset)}${secret}yyy`);
      return (
        remainders(
          base64(secret.padStart(secret.length + (offset % 3), "x")).slice(4, -4),
          redactor.text(encoded),
        ).length > 0
      );
    });
    expect(missed).toEqual([]);
  });
});

describe("a secret of several lines", () => {
  const redactor = redactorFor(KEY_FILE);

  it.each(KEY_FILE.split("\n"))("is found by its line %s", (line) => {
    expect(redactor.text(`> ${line} <`)).toBe("> [redacted KEY] <");
  });

  it.each(Object.entries(ENCODINGS))("is found %s", (_, encode) => {
    const redacted = redactor.text(encode(KEY_FILE));
    expect(redacted).toContain("[redacted KEY]");
    for (const line of KEY_FILE.split("\n")) expect(redacted).not.toContain(line);
    expect(remainders(encode("MIIEvQIBADANBgkqhkiG9w0"), redacted)).toEqual([]);
  });

  it("is found when its lines are indented, quoted or end in CRLF", () => {
    const shown = redactor.text(KEY_FILE.replace(/^/gm, "  > ").replaceAll("\n", "\r\n"));
    expect(shown.split("\r\n")).toEqual(Array(4).fill("  > [redacted KEY]"));
  });
});

describe("a secret with white space around it is found without it too", () => {
  it.each(["\r", "\n", " ", "\t", "\r\n"])("%j", (space) => {
    const redactor = redactorFor(`${space}${TOKEN}${space}`);
    expect(redactor.text(`it is ${TOKEN}.`)).toBe("it is [redacted KEY].");
  });
});

describe("several secrets", () => {
  it("are distinguished by their names", () => {
    expect(redactorFor("first-secret", "second-secret").text("second-secret first-secret")).toBe(
      "[redacted KEY2] [redacted KEY]",
    );
  });

  it.each([
    ["abcdefgh", "abcdefgh-and-more"],
    ["abcdefgh-and-more", "abcdefgh"],
  ])("of which one begins like the other: %s, %s", (one, other) => {
    expect(redactorFor(one, other).text("abcdefgh-and-more abcdefgh-x")).not.toMatch(/and-more|abcdefgh/);
  });

  it("that contain each other", () => {
    const shown = redactorFor("the-inner-one", "around-the-inner-one-too").text(
      "around-the-inner-one-too the-inner-one",
    );
    expect(shown).toBe("[redacted KEY2] [redacted KEY]");
  });

  it("that overlap in a text are both gone", () => {
    const shown = redactorFor("left-shared", "shared-right").text("left-shared-right");
    expect(shown).not.toMatch(/left|shared|right/);
  });

  it("with the same value have one of the names", () => {
    expect(redactorFor("same-secret", "same-secret").text("same-secret")).toBe("[redacted KEY]");
  });
});

describe("what is no secret stays as it is:", () => {
  it.each(["", "1", "true", "12345", "abcdefg"])("a value as short as %j", (value) => {
    const redactor = redactorFor(value);
    const text = `true 1 12345 abcdefg ${base64("abcdefg")} ${base64("12345")}`;
    expect({ needed: redactor.isNeeded, text: redactor.text(text) }).toEqual({ needed: false, text });
  });

  it("a text that only looks like a secret", () => {
    const text = `${TOKEN.slice(0, -1)} ${TOKEN.slice(1)} ${TOKEN.toUpperCase()} ${base64("other")}`;
    expect(redactorFor(TOKEN).text(text)).toBe(text);
  });

  it("characters that mean something in patterns mean nothing in a secret", () => {
    const redactor = redactorFor("a.*b+[c]|(d)$^{2}\\e");
    expect(redactor.text("aXXb a.*b c |")).toBe("aXXb a.*b c |");
    expect(redactor.text("a.*b+[c]|(d)$^{2}\\e")).toBe("[redacted KEY]");
  });

  it("everything, when there are no secrets", () => {
    const data = { a: [1, "x"], date: new Date(0) };
    expect(redactData(new Redactor(new Map()), data)).toBe(data);
  });
});

it("the end of a text that was cut off in a secret has no part of one, however often it occurs", () => {
  const secret = Array.from({ length: 100 }, (_, index) => `part-${index}.`).join("");
  const redactor = new Redactor(new Map([["KEY", secret]]));
  for (const cut of [1, 5, 400, secret.length - 1]) {
    const captured = secret.repeat(20).slice(cut);
    const redacted = redactor.capturedEnd(captured, Buffer.byteLength(captured));
    expect(redacted.replaceAll("[redacted KEY]", "")).toBe("");
    expect(redacted).toContain("[redacted KEY]");
  }
});

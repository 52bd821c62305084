import { describe, expect, it } from "vitest";
import { PathRewriter } from "../../src/agentSessions/rewritePaths.ts";

const FROM = "/workspace/repo";
const TO = "/home/me/my repo";
const rewriter = new PathRewriter([{ from: FROM, to: TO }], ["thinking", "signature"]);
const moved = (value: unknown): unknown => JSON.parse(rewriter.json(JSON.stringify(value)));

describe("a path in a record", () => {
  it.each([
    ["as a whole value", { cwd: FROM }, { cwd: TO }],
    ["as the beginning of a longer one", { path: `${FROM}/src/a.ts` }, { path: `${TO}/src/a.ts` }],
    ["with a slash at its end", { path: `${FROM}/` }, { path: `${TO}/` }],
    ["as a key", { projects: { [FROM]: { trusted: true } } }, { projects: { [TO]: { trusted: true } } }],
    ["in a list", { roots: [FROM, [FROM]] }, { roots: [TO, [TO]] }],
    ["twice", { text: `${FROM} and ${FROM}` }, { text: `${TO} and ${TO}` }],
    ["between tags", { text: `<cwd>${FROM}</cwd>` }, { text: `<cwd>${TO}</cwd>` }],
    ["in quotes", { text: `cd "${FROM}" '${FROM}' \`${FROM}\`` }, { text: `cd "${TO}" '${TO}' \`${TO}\`` }],
    ["in brackets", { text: `(${FROM}) [${FROM}] {${FROM}}` }, { text: `(${TO}) [${TO}] {${TO}}` }],
    ["at the end of a sentence", { text: `It is in ${FROM}.` }, { text: `It is in ${TO}.` }],
    [
      "before punctuation",
      { text: `${FROM}, ${FROM}; ${FROM}: ${FROM}!` },
      { text: `${TO}, ${TO}; ${TO}: ${TO}!` },
    ],
    ["after an equals sign", { text: `--cwd=${FROM}` }, { text: `--cwd=${TO}` }],
    ["in a list of paths", { text: `PATH=/bin:${FROM}/bin:${FROM}` }, { text: `PATH=/bin:${TO}/bin:${TO}` }],
    ["between lines", { text: `a\n${FROM}\nb\t${FROM}` }, { text: `a\n${TO}\nb\t${TO}` }],
    ["with a line of the file", { text: `${FROM}/a.ts:12:3` }, { text: `${TO}/a.ts:12:3` }],
    ["as a URL", { cwd: `file://${FROM}/a` }, { cwd: "file:///home/me/my%20repo/a" }],
    ["in text as a URL", { text: `see file://${FROM}.` }, { text: "see file:///home/me/my%20repo." }],
  ])("is moved %s", (_, before, after) => {
    expect(moved(before)).toEqual(after);
  });

  it.each([
    `${FROM}-2`,
    `${FROM}2/a`,
    `${FROM}_old`,
    `${FROM}sitory`,
    `${FROM}ö`,
    `${FROM}.git`,
    `${FROM}.bak/a`,
    `/mnt${FROM}`,
    `/mnt/x${FROM}/a`,
    `~${FROM}`,
    `.${FROM}`,
    `..${FROM}`,
    `https://example.org${FROM}`,
    "/workspace",
    "/workspace/",
    "/Workspace/repo",
    "workspace/repo",
    "-workspace-repo",
    "/workspace//repo",
  ])("is not touched where another one only looks like it: %s", (path) => {
    expect(moved({ path, text: `before ${path} after` })).toEqual({ path, text: `before ${path} after` });
  });

  it("is not touched below a key whose value is signed, at any depth", () => {
    const sealed = { thinking: `in ${FROM}`, signature: { deep: [FROM] } };
    expect(moved({ cwd: FROM, content: [sealed] })).toEqual({ cwd: TO, content: [sealed] });
  });
});

describe("JSON inside a string", () => {
  const nested = (text: string, path: string) => ({ arguments: JSON.stringify({ cmd: text, cwd: path }) });

  it.each([
    ["a value", (path: string) => path],
    ["a quoted word", (path: string) => `cat "${path}/a"`],
    ["after a line end", (path: string) => `cd /tmp\n${path}/build.sh\r\n${path}\t${path}`],
    ["after a backslash", (path: string) => `\\${path}`],
  ])("has its paths moved, and stays JSON: %s", (_, text) => {
    expect(moved(nested(text(FROM), FROM))).toEqual(nested(text(TO), TO));
  });

  it("has them moved when it is inside another string of JSON", () => {
    const twice = (path: string) => ({ outer: JSON.stringify(nested(`a\n${path}`, path)) });
    expect(moved(twice(FROM))).toEqual(twice(TO));
  });
});

describe("a record in which nothing is to be moved", () => {
  it.each([
    '{ "b" : 1,  "a":1.0, "n":12345678901234567890, "e":1e2 }',
    '{"2":1,"1":2,"a":1,"a":2}',
    String.raw`{"text":"ü 🏜 <\/tag>"}`,
    '{"text":"\u2028"}',
    `{ "path" : "${FROM}-2" }`,
    `{ "thinking" : "${FROM}" }`,
    "",
    " ",
    "null",
  ])("stays as it is to the byte: %j", (json) => {
    expect(rewriter.json(json)).toBe(json);
  });

  it.each([
    `not JSON: ${FROM}`,
    `{"cwd":"${FROM}"`,
    `{"cwd":"${FROM}"}{"cwd":"${FROM}"}`,
    `{'cwd':'${FROM}'}`,
  ])("stays as it is to the byte when it is no JSON: %j", (json) => {
    expect(rewriter.json(json)).toBe(json);
  });
});

describe("a record of an unusual kind", () => {
  it("is read whatever its way of writing slashes and letters is", () => {
    expect(JSON.parse(rewriter.json(String.raw`{"cwd":"\/workspace\/r\u0065po"}`))).toEqual({ cwd: TO });
  });

  it("keeps the order of what it holds", () => {
    expect(rewriter.json(`{"z":1,"cwd":"${FROM}","a":[{"y":1,"b":2}]}`)).toBe(
      `{"z":1,"cwd":"${TO}","a":[{"y":1,"b":2}]}`,
    );
  });

  it("keeps a key that is special in JavaScript", () => {
    const json = rewriter.json(`{"__proto__":{"cwd":"${FROM}"},"constructor":"${FROM}"}`);
    expect(json).toBe(`{"__proto__":{"cwd":"${TO}"},"constructor":"${TO}"}`);
  });

  it("may be a thousand levels deep", () => {
    const deep = (path: string) => `${'{"a":['.repeat(1000)}"${path}"${"]}".repeat(1000)}`;
    expect(rewriter.json(deep(FROM))).toBe(deep(TO));
  });

  it("does not make it fail, however deep it is", () => {
    const json = `${"[".repeat(100_000)}"${FROM}"${"]".repeat(100_000)}`;
    expect(() => rewriter.json(json)).not.toThrow();
  });

  it("is moved in a moment, however long it is", () => {
    const text = (path: string) => `${path}/a ${path}-2 `.repeat(50_000);
    expect(moved({ text: text(FROM) })).toEqual({ text: text(TO).replaceAll(`${TO}-2`, `${FROM}-2`) });
  });
});

describe("several moves", () => {
  it("go by the longest path, in whatever order they are given", () => {
    const moves = [
      { from: "/root", to: "/home/me/repo" },
      { from: "/root/.claude/projects/-root", to: "/home/me/.claude/projects/-home-me-repo" },
    ];
    for (const order of [moves, [...moves].reverse()]) {
      const both = new PathRewriter(order);
      expect(both.text("/root/a /root/.claude/projects/-root/s/x.txt /root/.claude")).toBe(
        "/home/me/repo/a /home/me/.claude/projects/-home-me-repo/s/x.txt /home/me/repo/.claude",
      );
    }
  });

  it("do not move what has just been moved", () => {
    const swap = new PathRewriter([
      { from: "/a", to: "/b" },
      { from: "/b", to: "/a" },
    ]);
    expect(swap.text("/a/x /b/x")).toBe("/b/x /a/x");
  });

  it("are undone by those in the other direction", () => {
    const back = new PathRewriter([{ from: TO, to: FROM }]);
    const record = `{"cwd":"${FROM}","url":"file://${FROM}/ä%20b","text":"see ${FROM}/a."}`;
    expect(back.json(rewriter.json(record))).toBe(record);
  });

  it.each(["/srv/$&/$1", "/srv/a+b (c) [d]", "/srv/ä 🏜", "/srv/it's", "/srv/100%"])(
    "take names as they are: %s",
    (path) => {
      expect(new PathRewriter([{ from: FROM, to: path }]).text(`in ${FROM}/a`)).toBe(`in ${path}/a`);
      expect(new PathRewriter([{ from: path, to: FROM }]).text(`in ${path}/a`)).toBe(`in ${FROM}/a`);
    },
  );
});

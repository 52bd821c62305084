import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readlinkSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { copyEnvironment, loadEnvironment } from "../../../src/environment/folder/loadEnvironment.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { definition, folder } from "../serving.ts";

const problemOf = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const directory = folder(files);
  const error = await loadEnvironment(directory).catch((reason) => reason);
  expect(error).toMatchObject({ name: "EnvironmentError" });
  return error.message.replaceAll(directory, "FOLDER");
};

const json = (value: unknown) => ({ "environment.json": JSON.stringify(value) });

describe("a folder", () => {
  it.each(["environment.ts", "environment.mts", "environment.js", "environment.mjs"])(
    "is an environment with %s",
    async (name) => {
      // Nothing of it is run: it could do anything on the host.
      const directory = folder({
        [name]: `process.exit(1); export default defineEnvironment({ tests: {} });`,
      });
      expect(await loadEnvironment(directory)).toMatchObject({
        directory,
        definitionFile: name,
        files: [name],
        json: undefined,
      });
    },
  );

  it("is one with environment.json: a server, or suites", async () => {
    const server = folder(
      json({ start: "python3 server.py", port: 8000, health: "/ready", startTimeoutMs: 5000 }),
    );
    expect((await loadEnvironment(server)).json).toEqual({
      type: "server",
      server: {
        start: "python3 server.py",
        port: 8000,
        health: "/ready",
        startTimeoutMs: 5000,
        timeoutMs: 600_000,
      },
    });
    const suites = folder(
      json({ suites: { unit: { runner: "pytest", args: ["-q"] } }, timeoutMs: 1000, concurrency: 2 }),
    );
    expect((await loadEnvironment(suites)).json).toMatchObject({
      type: "suites",
      definition: {
        timeoutMs: 1000,
        concurrency: 2,
        tests: { unit: { type: "suite", definition: { runner: "pytest", args: ["-q"] } } },
      },
    });
  });

  it("has a file for its definition, and no pipe that would keep a reader waiting", async () => {
    const directory = folder({});
    execFileSync("mkfifo", [join(directory, "environment.mjs")]);
    await expect(loadEnvironment(directory)).rejects.toThrow("it is not a file");
  });

  it("has to have one definition, and not two", async () => {
    expect(await problemOf({ "other.ts": "" })).toMatch(
      /^The environment FOLDER cannot be used: it has no definition. It needs one of environment.ts, /,
    );
    expect(await problemOf({ "environment.ts": "", "environment.json": "{}" })).toContain(
      "it has both environment.ts and environment.json. Remove one of them.",
    );
    await expect(loadEnvironment("/nonexistent/folder")).rejects.toThrow(
      "there is no such folder. Pass the folder that has its definition.",
    );
    await expect(loadEnvironment(join(folder({ file: "" }), "file"))).rejects.toThrow("it is not a folder");
  });

  it.each([
    ["[]", "it is not an object"],
    ["{", "it is not JSON: "],
    ["{}", "it needs `start`, the command of a server, or `suites`"],
    [`{"start":"a","suites":{}}`, "it has both `start` and `suites`"],
    [`{"start":""}`, "it has `start`, which must be a line for sh"],
    [`{"start":"a","port":0}`, "it has `port`, which must be a port, a whole number from 1 to 65535"],
    [`{"start":"a","health":"health"}`, "it has `health`, which must be a path, e.g. /health"],
    [`{"start":"a","startTimeoutMs":-1}`, "it has `startTimeoutMs`, which must be a number of milliseconds"],
    [
      `{"start":"a","command":"b"}`,
      "it has `command`, which is unknown; expected one of: start, port, health, startTimeoutMs, timeoutMs, files",
    ],
    [`{"start":"a","files":"b"}`, "it has `files`, which must be a list of paths"],
    [`{"suites":[]}`, "it has `suites`, which must be an object"],
    [`{"suites":{}}`, "it has `suites`, which has no test"],
    [`{"suites":{"a":{"runner":"mocha"}}}`, 'it has an invalid suite "a": `runner`'],
    [
      `{"suites":{"../a":{"runner":"go"}}}`,
      'it has `suites`, which has "../a", which is not the path of a test',
    ],
    [
      `{"suites":{"a":{"runner":"go"},"a/b":{"runner":"go"}}}`,
      '"a" is a test, and also the beginning of "a/b"',
    ],
    [
      `{"suites":{"a":{"runner":"go"}},"concurrency":0}`,
      "it has `concurrency`, which must be a whole number from 1 to 64",
    ],
    [
      `{"suites":{"a":{"runner":"go"}},"setup":1}`,
      "it has `setup`, which is unknown; expected one of: suites, timeoutMs, concurrency, files",
    ],
  ])("refuses the environment.json %s", async (text, problem) => {
    const message = await problemOf({ "environment.json": text });
    expect(message).toContain("The environment FOLDER/environment.json cannot be used: ");
    expect(message).toContain(problem);
  });
});

describe("the files that are copied", () => {
  const ALL = {
    "setup.sh": "",
    "tests/a.txt": "a",
    "tests/deep/b.txt": "b",
    "data.json": "{}",
    "notes/private.txt": "",
  };

  it("is everything, but what git keeps for itself", async () => {
    const directory = folder({
      "environment.mjs": definition("tests: { a: () => {} }"),
      ...ALL,
      ".git/config": "",
    });
    const { files } = await loadEnvironment(directory);
    expect(files).toEqual([
      "data.json",
      "environment.mjs",
      "notes/private.txt",
      "setup.sh",
      "tests/a.txt",
      "tests/deep/b.txt",
    ]);
  });

  it("is what `files` says, and always the definition and setup.sh", async () => {
    const files = ["data.json", "environment.mjs", "setup.sh", "tests/a.txt", "tests/deep/b.txt"];
    const text = definition(`
      // files: ["notes"],
      tests: { a: ({ files }) => { const other = { files: ["notes"] }; return \`files: [\${"notes"}]\`; } },
      files: ['./tests/', "data.json"], timeoutMs: 4 / 2,`);
    expect((await loadEnvironment(folder({ "environment.mjs": text, ...ALL }))).files).toEqual(files);
    const server = folder({ ...json({ start: "true", files: ["tests", "data.json"] }), ...ALL });
    expect((await loadEnvironment(server)).files).toEqual(
      files.map((file) => file.replace(".mjs", ".json")).sort(),
    );
  });

  it("has to be said so that it can be read without running the definition", async () => {
    for (const list of ["files: [...LIST]", "files: list()", "files", 'files: ["a" + "b"]', "files: [`a`]"]) {
      const problem = await problemOf({ "environment.mjs": definition(`tests: {}, ${list}`) });
      expect(problem).toContain(
        "it has a `files` that cannot be read. Write `files` as a plain list of strings",
      );
    }
  });

  it.each(["../other", "/etc/passwd", "a/../../b", ".."])(
    "is nothing outside of the folder, such as %s",
    async (item) => {
      expect(await problemOf(json({ start: "true", files: [item] }))).toContain(
        `\`files\` has ${JSON.stringify(item)}, which is not in the folder`,
      );
    },
  );

  it("has to exist", async () => {
    expect(await problemOf(json({ start: "true", files: ["missing"] }))).toContain(
      '`files` has "missing", which does not exist',
    );
  });

  it("follows no link that leaves the folder, and keeps those that stay", async () => {
    const directory = folder({ ...json({ start: "true" }), "tests/a.txt": "a" });
    symlinkSync("a.txt", join(directory, "tests/link"));
    expect((await loadEnvironment(directory)).files).toEqual([
      "environment.json",
      "tests/a.txt",
      "tests/link",
    ]);
    for (const [target, problem] of [
      [relative(join(directory, "tests"), "/etc/passwd"), "it is a link to a path outside the folder"],
      ["../..", "it is a link to a path outside the folder"],
      [join(directory, "tests/a.txt"), "it is a link to an absolute path"],
      ["nowhere", "it is a broken link"],
    ] as const) {
      symlinkSync(target, join(directory, "tests/bad"));
      await expect(loadEnvironment(directory)).rejects.toThrow(problem);
      rmSync(join(directory, "tests/bad"));
    }
  });

  it("is not reached through a link", async () => {
    const outside = folder({ "secret.txt": "" });
    const directory = folder(json({ start: "true", files: ["linked/secret.txt"] }));
    symlinkSync(outside, join(directory, "linked"));
    await expect(loadEnvironment(directory)).rejects.toThrow("a directory on its path is a link");
  });

  it("is no pipe, which would keep a reader waiting", async () => {
    const directory = folder(json({ start: "true" }));
    execFileSync("mkfifo", [join(directory, "pipe")]);
    await expect(loadEnvironment(directory)).rejects.toThrow("it is neither a file nor a directory");
  });

  it("is copied with its modes and links", async () => {
    const directory = folder({ ...json({ start: "true" }), "bin/run": "#!/bin/sh\n", "other.txt": "" });
    chmodSync(join(directory, "bin/run"), 0o755);
    symlinkSync("bin/run", join(directory, "run"));
    const loaded = await loadEnvironment(directory);
    const destination = join(temporaryDirectory(), "copy");
    await copyEnvironment(loaded, destination);
    expect(statSync(join(destination, "bin/run")).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(destination, "run"))).toBe("bin/run");
    expect(lstatSync(join(destination, "environment.json")).isFile()).toBe(true);
    expect((await loadEnvironment(destination)).files).toEqual(loaded.files);
  });

  it("has an end", async () => {
    const directory = folder({ ...json({ start: "true" }), "large.bin": "" });
    truncateSync(join(directory, "large.bin"), 600 * 1024 * 1024);
    await expect(loadEnvironment(directory)).rejects.toThrow(
      "it has more than 20000 files, or more than 512 MiB. List the files that the tests need in `files` of the definition.",
    );
  });

  it("is found at once, however odd the text is", async () => {
    for (const text of [
      "/[".repeat(100_000),
      "/* ".repeat(100_000),
      "`${".repeat(100_000),
      "'\\".repeat(100_000),
    ]) {
      expect((await loadEnvironment(folder({ "environment.mjs": text }))).files).toEqual(["environment.mjs"]);
    }
    expect(await problemOf({ "environment.mjs": "x".repeat(1024 * 1024 + 1) })).toContain(
      "it has more than 1048576 bytes",
    );
  });
});

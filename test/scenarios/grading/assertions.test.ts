import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import { checkAssertions } from "../../../src/scenarios/grading/checkAssertions.ts";
import { ProjectFiles } from "../../../src/scenarios/project/projectFiles.ts";
import type { AssertionRecord } from "../../../src/scenarios/records/record.ts";
import { hostCommandRunner } from "../../../src/scenarios/sandbox/hostCommandRunner.ts";
import type { Assertion } from "../../../src/scenarios/spec.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { asOrdinaryUser } from "../../helpers/runtimes/ordinaryUser.ts";

const CONTENT = "v0.1.2\nGrüße, \u0000 and more\n";
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");

const gradeIn = (project: string, timeoutMs: number) => {
  mkdirSync(join(project, "sub"));
  writeFileSync(join(project, "a.txt"), CONTENT);
  writeFileSync(join(project, "empty"), "");
  writeFileSync(join(project, "long"), "y".repeat(100_000));
  writeFileSync(join(project, "evil"), `${"a".repeat(60)}b`);
  writeFileSync(join(project, "not-executable"), "#!/bin/sh\n");
  execFileSync("mkfifo", [join(project, "pipe")]);
  symlinkSync("a.txt", join(project, "link"));
  symlinkSync("nowhere", join(project, "dangling"));
  symlinkSync("/etc/passwd", join(project, "passwd"));
  symlinkSync("/etc", join(project, "etc"));
  const commandRunner = { ...hostCommandRunner(project), settle: async () => {} };
  const controller = new AbortController();
  return {
    project,
    controller,
    graded: {
      ...{ files: new ProjectFiles(project), commandRunner, timeoutMs, signal: controller.signal },
      redact: (text: string) => text,
      prepare: async () => {},
    },
  };
};

const gradedProject = (timeoutMs = 30_000) => {
  const graded = gradeIn(temporaryDirectory(), timeoutMs);
  onTestFinished(() => graded.graded.commandRunner.close());
  return graded;
};

const findingOf = async (assertion: Assertion, timeoutMs?: number) => {
  const [record] = await checkAssertions([assertion], gradedProject(timeoutMs).graded);
  return record;
};

const inFile = (path: string, substr: string): Assertion => ({ file_contains: { path, substr } });
const matching = (path: string, regex: string): Assertion => ({ file_matches: { path, regex } });
const hashed = (path: string, sha256: string): Assertion => ({ sha256_equals: { path, sha256 } });

const CASES: readonly [Assertion, boolean, RegExp][] = [
  [{ file_exists: "a.txt" }, true, /^a file is there$/],
  [{ file_exists: "link" }, true, /^a file is there$/],
  [{ file_exists: "sub" }, false, /^a directory is there$/],
  [{ file_exists: "none" }, false, /^nothing is there$/],
  [{ file_exists: "pipe" }, false, /neither/],
  [{ file_exists: "passwd" }, false, /leads outside/],
  [{ file_exists: "etc/passwd" }, false, /leads outside/],
  [{ file_exists: "../x" }, false, /leads outside/],
  [{ file_absent: "none" }, true, /^nothing is there$/],
  [{ file_absent: "none/below" }, true, /^nothing is there$/],
  [{ file_absent: "a.txt" }, false, /^a file is there$/],
  [{ file_absent: "sub" }, false, /^a directory is there$/],
  [{ file_absent: "dangling" }, false, /neither/],
  [{ file_absent: "etc/none" }, false, /leads outside/],
  [{ file_absent: "../none" }, false, /leads outside/],
  [{ dir_exists: "sub" }, true, /^a directory is there$/],
  [{ dir_exists: "." }, true, /^a directory is there$/],
  [{ dir_exists: "a.txt" }, false, /^a file is there$/],
  [{ dir_exists: "none" }, false, /^nothing is there$/],
  [{ dir_exists: "etc" }, false, /leads outside/],
  [{ dir_absent: "none" }, true, /^nothing is there$/],
  [{ dir_absent: "sub" }, false, /^a directory is there$/],
  [{ dir_absent: "a.txt" }, false, /^a file is there$/],
  [{ dir_absent: "/none" }, false, /absolute/],
  [inFile("a.txt", "Grüße"), true, /^found at byte 7 of 27$/],
  [inFile("link", "v0"), true, /^found/],
  [inFile("a.txt", "grüße"), false, /^not found in 27 bytes: "v0\.1\.2/],
  [inFile("long", "x"), false, /^not found in 100000 bytes: "y{300}"…$/],
  [inFile("empty", "x"), false, /^not found in 0 bytes/],
  [inFile("none", "x"), false, /^there is no such file$/],
  [inFile("sub", "x"), false, /^it is a directory$/],
  [inFile("pipe", "x"), false, /^it is not a regular file$/],
  [inFile("passwd", "root"), false, /leads outside/],
  [matching("a.txt", "^v0\\.1\\."), true, /^matches at character 0: "v0\.1\."$/],
  [matching("a.txt", "\\u0000 and"), true, /^matches at character 14/],
  [matching("long", "y+"), true, /^matches at character 0: "y{300}"…$/],
  [matching("a.txt", "^Grüße"), false, /^no match in 25 characters/],
  [matching("a.txt", "("), false, /Invalid regular expression/],
  [matching("none", "x"), false, /^there is no such file$/],
  [hashed("a.txt", SHA256), true, new RegExp(SHA256)],
  [hashed("a.txt", SHA256.toUpperCase()), true, new RegExp(SHA256)],
  [hashed("empty", SHA256), false, /^it is e3b0c442/],
  [hashed("none", SHA256), false, /^there is no such file$/],
  [hashed("pipe", SHA256), false, /^it is not a regular file$/],
  [{ cmd_zero: ["true"] }, true, /^exit code 0$/],
  [{ cmd_zero: ["cat", "a.txt"] }, true, /^exit code 0: v0\.1\.2/],
  [{ cmd_zero: ["sh", "-c", "echo why >&2; exit 3"] }, false, /^exit code 3: why$/],
  [{ cmd_zero: ["no-such-program"] }, false, /^"no-such-program" was not found/],
  [
    { cmd_zero: ["sh", "-c", "echo gone >&2; exit 127"] },
    false,
    /^exit code 127 \(by convention: a program was not found\): gone$/,
  ],
  [
    { cmd_nonzero: ["sh", "-c", "exit 126"] },
    false,
    /^exit code 126 \(by convention: a program cannot be executed\)$/,
  ],
  [{ cmd_nonzero: ["false"] }, true, /^exit code 1$/],
  [{ cmd_nonzero: ["sh", "-c", "kill -9 $$"] }, true, /^exit code 137$/],
  [{ cmd_nonzero: ["true"] }, false, /^exit code 0$/],
  [{ cmd_nonzero: ["no-such-program"] }, false, /^"no-such-program" was not found/],
  [{ cmd_nonzero: ["./not-executable"] }, false, /^".\/not-executable" was not found/],
  [
    { cmd_nonzero: ["sh", "-c", "exec ./not-executable"] },
    false,
    /^exit code 126 \(by convention: a program cannot be executed\): /,
  ],
];

describe("Of assertions that are checked together", () => {
  let findings: readonly AssertionRecord[] = [];
  beforeAll(async () => {
    const project = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-test-")));
    const { graded } = gradeIn(project, 30_000);
    const assertions = CASES.map(([assertion]) => assertion);
    findings = await checkAssertions(assertions, graded);
    await graded.commandRunner.close();
    rmSync(project, { recursive: true });
  });

  test.each(CASES.map((each, index) => [...each, index] as const))(
    "%j is %s, and says what was found",
    (_, ok, detail, index) => {
      expect(findings[index]).toEqual({
        name: expect.any(String),
        ok,
        detail: expect.stringMatching(detail),
      });
    },
  );
});

test.each<Assertion>([{ cmd_zero: ["sleep", "60"] }, { cmd_nonzero: ["sleep", "60"] }])(
  "The assertion %j fails when its time is over",
  async (assertion) => {
    expect(await findingOf(assertion, 200)).toMatchObject({
      ok: false,
      detail: expect.stringMatching("too long"),
    });
  },
);

test("A regular expression that backtracks for ever fails at its time limit, and blocks no other execution", async () => {
  const endless = matching("evil", "^(a+)+$");
  expect(await findingOf(endless, 300)).toMatchObject({ ok: false, detail: "it took longer than 300 ms" });
  const { graded, controller } = gradedProject();
  const reason = new Error("enough");
  const rejected = expect(checkAssertions([endless], graded)).rejects.toBe(reason);
  expect(await findingOf({ cmd_zero: ["true"] })).toMatchObject({ ok: true });
  controller.abort(reason);
  await rejected;
});

test("A slow search still finds its match", async () => {
  const { project, graded } = gradedProject();
  writeFileSync(join(project, "slow"), `${"a".repeat(23)}b`);
  const slow = "^(?:(?:a+)+$|a+b)";
  expect(await checkAssertions([matching("slow", slow)], graded)).toMatchObject([
    { ok: true, detail: `matches at character 0: "${"a".repeat(23)}b"` },
  ]);
});

test.each([
  ["file_contains", inFile("huge", "x"), "no more than"],
  ["file_matches", matching("huge", "x"), "no more than"],
  ["sha256_equals", hashed("huge", SHA256), "it took longer than 200 ms"],
])("For %s, a file without end is a failure and no reason to wait", async (_, assertion, detail) => {
  const { project, graded } = gradedProject(200);
  truncateSync(join(project, "a.txt"), 2 ** 40);
  symlinkSync("a.txt", join(project, "huge"));
  expect(await checkAssertions([assertion], graded)).toMatchObject([
    { ok: false, detail: expect.stringContaining(detail) },
  ]);
});

test("A file that cannot be read is a failure, whose reason has no path of the host", async () => {
  const { project, graded } = gradedProject();
  chmodSync(join(project, "a.txt"), 0);
  chmodSync(join(project, "sub"), 0);
  await asOrdinaryUser(project, async () => {
    const records = await checkAssertions([inFile("a.txt", "v0"), { file_absent: "sub/x" }], graded);
    expect(records.map(({ ok, detail }) => [ok, detail])).toEqual([
      [false, "permission denied"],
      [false, "permission denied"],
    ]);
  });
});

test("All assertions run, in order, whatever those before have found, and each has a name", async () => {
  const { graded } = gradedProject();
  const records = await checkAssertions(
    [
      { file_exists: "none" },
      inFile("a.txt", "v0"),
      { cmd_zero: ["false"] },
      { git_clean: true },
      { dir_exists: "sub" },
    ],
    graded,
  );
  expect(records.map(({ name, ok }) => [name, ok])).toEqual([
    ["file_exists: none", false],
    ['file_contains: {"path":"a.txt","substr":"v0"}', true],
    ['cmd_zero: ["false"]', false],
    ["git_clean: true", false],
    ["dir_exists: sub", true],
  ]);
});

test("Only the end of a command's output is kept", async () => {
  const record = await findingOf({ cmd_zero: ["sh", "-c", "yes | head -c 100000; echo end"] });
  expect(record?.detail).toMatch(/^exit code 0: …[\s\S]{297}end$/);
});

test.each<Assertion>([{ cmd_zero: ["sleep", "60"] }, hashed("huge", SHA256)])(
  "An abort during %j rejects with its own reason",
  async (assertion) => {
    const { project, graded, controller } = gradedProject();
    writeFileSync(join(project, "huge"), "");
    truncateSync(join(project, "huge"), 2 ** 40);
    const reason = new Error("enough");
    const checking = checkAssertions([assertion], graded);
    setTimeout(() => controller.abort(reason), 100);
    await expect(checking).rejects.toBe(reason);
  },
);

test("A lost command runner is not a failed assertion", async () => {
  const { graded } = gradedProject();
  const lost = new SandboxLostError("test", "it is gone", "");
  const commandRunner = { ...graded.commandRunner, run: () => Promise.reject(lost) };
  await expect(checkAssertions([{ cmd_zero: ["true"] }], { ...graded, commandRunner })).rejects.toBe(lost);
  await expect(checkAssertions([{ git_clean: true }], { ...graded, commandRunner })).rejects.toBe(lost);
});

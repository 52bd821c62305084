import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../support.ts";
import { attack, claudeSession, posing, print, SUCCESS } from "./posing.ts";
import { filesIn, hostHome, projectOf, sessionScene } from "./sessionAttacks.ts";

const FILE_BESIDE = "echo '{}' > abc.jsonl; mkdir -p abc/subagents";

describe("a file that is not a session file", () => {
  it.each([
    ["a symbolic link", "ln -s /etc/passwd abc.jsonl"],
    ["a link that leads nowhere", "ln -s /nowhere abc.jsonl"],
    ["a FIFO", "mkfifo abc.jsonl"],
    ["a directory", "mkdir abc.jsonl"],
    ["nothing at all", ":"],
    ["2 GB of nothing", "truncate -s 2G abc.jsonl"],
    [
      "a link beside it",
      "echo '{}' > abc.jsonl; mkdir -p abc/subagents; ln -s /etc/passwd abc/subagents/a.jsonl",
    ],
    ["a directory of its own that is a link", 'cd ..; rmdir -- "$P"; mkdir -p /tmp/x; ln -s /nowhere -- -x'],
  ])("%s is not captured", async (_, make) => {
    const { home, inProject, capture } = await sessionScene();
    await inProject(make);
    await expect(capture()).rejects.toThrow();
    expect(filesIn(home)).toEqual([]);
  });

  it("is a warning, and the run succeeds", async () => {
    hostHome();
    const script = claudeSession("abc", "ln -s /etc/passwd abc.jsonl");
    const { iterations, warnings } = await attack(temporaryRepository(), posing("claude", script));
    expect(iterations).toEqual([expect.not.objectContaining({ sessionFilePath: expect.anything() })]);
    expect(warnings).toEqual([expect.stringContaining("not captured")]);
  });
});

describe("files beside a session", () => {
  it("may have wild names, which do no harm", async () => {
    const { home, project, inProject, capture } = await sessionScene();
    const names = ["-rf.jsonl", "a b.jsonl", "$(touch x).jsonl", "ü.jsonl", "'.jsonl"];
    const touch = names.map((name) => `echo '{}' > 'abc/subagents/${name.replaceAll("'", "'\\''")}'`);
    await inProject(FILE_BESIDE, ...touch);
    await capture();
    expect(readdirSync(join(project, "abc/subagents")).sort()).toEqual(names.sort());
    expect(filesIn(home)).toHaveLength(names.length + 1);
  });

  it.each([
    ["a line end", "'abc/subagents/x\nfile 3 projects\n.jsonl'"],
    ["an escape", '"abc/subagents/$(printf "\\033")]0;evil.jsonl"'],
  ])("are not taken over with %s in their names", async (_, name) => {
    const { project, inProject, capture } = await sessionScene();
    await inProject(FILE_BESIDE, `echo '{}' > ${name}`);
    await capture().catch(() => undefined);
    expect(existsSync(join(project, "abc/subagents"))).toBe(false);
  });
});

it("a session file that grows all the time is captured in part, or not at all", async () => {
  const { project, inProject, capture } = await sessionScene();
  await inProject(
    "(setsid sh -c 'while :; do echo {}; done > abc.jsonl' >/dev/null 2>&1 &)",
    "until [ -s abc.jsonl ]; do sleep 0.01; done",
  );
  const captured = await capture().catch(() => undefined);
  expect(filesIn(project)).toEqual(captured === undefined ? [] : ["abc.jsonl"]);
});

describe("what stands in a session", () => {
  it.each([
    ["JSON of all kinds", '{"a":1.0,"a":12345678901234567890,"__proto__":{"b":1}}\\r\\nno json\\n'],
    ["NUL and no line end", "\\0\\n\\0"],
    ["invalid UTF-8", '{"x":"\\377\\303"}\\n'],
  ])("is as it was, to the byte, where it holds no path: %s", async (_, bytes) => {
    const { project, inProject, capture } = await sessionScene();
    await inProject(`printf '${bytes}' > abc.jsonl`);
    await capture();
    const expected = execFileSync("printf", [bytes]);
    expect(readFileSync(join(project, "abc.jsonl")).toString("hex")).toBe(expected.toString("hex"));
  });

  it("pollutes no prototype and reaches nothing else by the paths in it", async () => {
    const { cwd, home, project, handle, inProject, capture } = await sessionScene();
    await inProject(
      `printf '%s\\n' '{"__proto__":{"polluted":"${handle.worktreePath}"},"constructor":{"prototype":{"polluted":1}}}' > abc.jsonl`,
    );
    await capture();
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(readFileSync(join(project, "abc.jsonl"), "utf8")).toContain(`{"__proto__":{"polluted":"${cwd}"}`);
    expect(filesIn(home)).toEqual([expect.stringMatching(/abc\.jsonl$/)]);
  });

  it("deeper than any stack is captured or refused", async () => {
    const { project, inProject, capture } = await sessionScene();
    await inProject("yes '[' | head -n 1000000 | tr -d '\\n' > abc.jsonl");
    const captured = await capture().catch(() => undefined);
    expect(filesIn(project)).toEqual(captured === undefined ? [] : ["abc.jsonl"]);
  });

  it("does not grow without limit where the host's paths are long", async () => {
    const cwd = join(temporaryDirectory(), ...Array.from({ length: 8 }, () => "d".repeat(200)));
    const { handle, inProject, capture } = await sessionScene(cwd);
    const paths = JSON.stringify(Array.from({ length: 4 }, () => handle.worktreePath));
    await inProject(`yes '${paths}' | head -n 25000 > abc.jsonl`);
    const path = await capture().catch(() => undefined);
    if (path !== undefined) expect(statSync(path).size).toBeLessThanOrEqual(128 * 1024 * 1024);
  });

  it("only beside the session itself is no session", async () => {
    const { inProject, capture } = await sessionScene();
    await inProject("mkdir -p abc/subagents; echo '{}' > abc/subagents/a.jsonl");
    await expect(capture()).rejects.toThrow("no session");
  });
});

describe("a host on which sessions cannot be put", () => {
  it.each([
    ["a file where the directory belongs", (project: string) => writeFileSync(project, "")],
    ["a link in a circle", (project: string) => symlinkSync(project, project)],
    [
      "a directory where the session belongs",
      (project: string) => mkdirSync(join(project, "abc.jsonl"), { recursive: true }),
    ],
  ])("%s: nothing is captured, and nothing of it stays elsewhere", async (_, spoil) => {
    const { home, project, inProject, capture } = await sessionScene();
    mkdirSync(join(home, "projects"));
    spoil(project);
    await inProject("echo '{}' > abc.jsonl");
    const workDirectory = join(temporaryDirectory(), "work");
    await expect(capture("abc", { workDirectory })).rejects.toThrow();
    expect(existsSync(workDirectory)).toBe(false);
  });

  it("files of the agent are for the user alone", async () => {
    const { project, inProject, capture } = await sessionScene();
    await inProject(
      "echo '{}' > abc.jsonl; chmod 4777 abc.jsonl; mkdir -p abc/tool-results; echo x > abc/tool-results/a.txt; chmod 777 abc/tool-results/a.txt",
    );
    await capture();
    for (const name of filesIn(project)) expect(statSync(join(project, name)).mode & 0o7777).toBe(0o600);
    expect(filesIn(project)).toEqual(["abc.jsonl", "abc/tool-results/a.txt"]);
  });
});

describe("a session on the host", () => {
  it("that is a pipe is not resumed, and nothing is created", async () => {
    const cwd = temporaryRepository();
    const project = projectOf(hostHome(), cwd);
    mkdirSync(project, { recursive: true });
    execFileSync("mkfifo", [join(project, "abc.jsonl")]);
    const error = await failureOf(attack(cwd, posing("claude", print(SUCCESS)), { resumeSession: "abc" }));
    expect(error.name).toBe("AgentSessionNotFoundError");
    expect(existsSync(join(cwd, ".sanddune/runs"))).toBe(false);
  });

  it("that is no JSON is copied into the sandbox unchanged", async () => {
    const { project, handle, bring } = await sessionScene();
    const content = "no json\n\0{[\n";
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, "abc.jsonl"), content);
    chmodSync(join(project, "abc.jsonl"), 0o400);
    await bring("abc");
    const { stdout } = await handle.exec('cat "$HOME"/.claude/projects/*/abc.jsonl');
    expect(stdout).toBe(content);
  });
});

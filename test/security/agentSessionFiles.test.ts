import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { attack, claudeSession, posing, print, SUCCESS } from "./posing.ts";
import { filesIn, hostHome, projectOf } from "./sessionAttacks.ts";
import { failureOf } from "./support.ts";

const places = () => {
  const home = hostHome();
  const cwd = temporaryRepository();
  return { home, cwd, project: projectOf(home, cwd) };
};

const capture = (cwd: string, ...lines: string[]) =>
  attack(cwd, posing("claude", claudeSession("abc", ...lines)));

describe("a session file that is none is not captured, and the run succeeds", () => {
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
    [
      "too many files",
      "echo '{}' > abc.jsonl; mkdir -p abc/subagents; seq 1200 | sed 's,.*,abc/subagents/&.jsonl,' | xargs touch",
    ],
    ["a directory of its own that is a link", 'cd ..; rmdir -- "$P"; mkdir -p /tmp/x; ln -s /nowhere -- -x'],
  ])("%s", { timeout: 60_000 }, async (_, make) => {
    const { cwd } = places();
    const { iterations, warnings } = await capture(cwd, make);
    expect(iterations).toEqual([expect.not.objectContaining({ sessionFilePath: expect.anything() })]);
    expect(warnings).toEqual([expect.stringContaining("not captured")]);
  });

  it("files with wild names do no harm", async () => {
    const { home, cwd, project } = places();
    const names = ["-rf.jsonl", "a b.jsonl", "$(touch x).jsonl", "ü.jsonl", "'.jsonl"];
    const touch = names.map((name) => `echo '{}' > 'abc/subagents/${name.replaceAll("'", "'\\''")}'`);
    const { warnings } = await capture(cwd, "echo '{}' > abc.jsonl; mkdir -p abc/subagents", ...touch);
    expect(warnings).toEqual([]);
    expect(readdirSync(join(project, "abc/subagents")).sort()).toEqual(names.sort());
    expect(filesIn(home)).toHaveLength(names.length + 1);
  });

  it.each([
    ["a line end", "'abc/subagents/x\nfile 3 projects\n.jsonl'"],
    ["an escape", '"abc/subagents/$(printf "\\033")]0;evil.jsonl"'],
  ])("a file name with %s is not taken over", async (_, name) => {
    const { cwd, project } = places();
    await capture(cwd, "echo '{}' > abc.jsonl; mkdir -p abc/subagents", `echo '{}' > ${name}`);
    expect(existsSync(join(project, "abc/subagents"))).toBe(false);
  });

  it("a file that grows all the time is captured in part, or not at all", async () => {
    const { cwd } = places();
    const { iterations } = await capture(
      cwd,
      "(setsid yes '{}' > abc.jsonl 2>/dev/null & sleep 0.5; kill $!) ",
      "(setsid sh -c 'while :; do echo {}; done > abc.jsonl' >/dev/null 2>&1 &)",
    );
    expect(iterations).toHaveLength(1);
  });
});

describe("what stands in a session", () => {
  it.each([
    ["JSON of all kinds", '{"a":1.0,"a":12345678901234567890,"__proto__":{"b":1}}\\r\\nno json\\n'],
    ["NUL and no line end", "\\0\\n\\0"],
    ["invalid UTF-8", '{"x":"\\377\\303"}\\n'],
  ])("is as it was, to the byte, where it holds no path: %s", async (_, bytes) => {
    const { cwd, project } = places();
    await capture(cwd, `printf '${bytes}' > abc.jsonl`);
    const expected = execFileSync("printf", [bytes]);
    expect(readFileSync(join(project, "abc.jsonl")).toString("hex")).toBe(expected.toString("hex"));
  });

  it("pollutes no prototype and reaches nothing else by the paths in it", async () => {
    const { cwd, home, project } = places();
    await capture(
      cwd,
      `printf '%s\\n' '{"__proto__":{"polluted":"/sanddune/repo"},"constructor":{"prototype":{"polluted":1}}}' > abc.jsonl`,
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(readFileSync(join(project, "abc.jsonl"), "utf8")).toContain(`{"__proto__":{"polluted":"${cwd}"}`);
    expect(filesIn(home)).toEqual([expect.stringMatching(/abc\.jsonl$/)]);
  });

  it("deeper than any stack is captured or refused, without an end of the run", async () => {
    const { cwd } = places();
    const { iterations } = await capture(cwd, "yes '[' | head -n 1000000 | tr -d '\\n' > abc.jsonl");
    expect(iterations).toHaveLength(1);
  });

  it("does not grow without limit where the host's paths are long", { timeout: 60_000 }, async () => {
    hostHome();
    const cwd = join(temporaryDirectory(), ...Array.from({ length: 8 }, () => "d".repeat(200)));
    git(temporaryDirectory(), "clone", "--quiet", temporaryRepository(), cwd);
    const lines = `yes '["/sanddune/repo","/sanddune/repo","/sanddune/repo","/sanddune/repo"]' | head -c 2000000`;
    const { iterations } = await capture(cwd, `${lines} > abc.jsonl`);
    expect(iterations).toHaveLength(1);
    const path = iterations[0]?.sessionFilePath;
    if (path !== undefined) expect(statSync(path).size).toBeLessThanOrEqual(128 * 1024 * 1024);
  });

  it("only beside the session itself is no session", async () => {
    const { cwd } = places();
    const { iterations } = await capture(cwd, "mkdir -p abc/subagents; echo '{}' > abc/subagents/a.jsonl");
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
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
  ])("%s: it is a warning", async (_, spoil) => {
    const { home, cwd, project } = places();
    mkdirSync(join(home, "projects"));
    spoil(project);
    const { iterations, warnings } = await capture(cwd, "echo '{}' > abc.jsonl");
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("not captured")]);
    expect(filesIn(join(cwd, ".sanddune/runs")).filter((name) => name.includes("agent-session"))).toEqual([]);
  });

  it("files of the agent's are for the user alone", async () => {
    const { cwd, project } = places();
    await capture(
      cwd,
      "echo '{}' > abc.jsonl; chmod 4777 abc.jsonl; mkdir -p abc/tool-results; echo x > abc/tool-results/a.txt; chmod 777 abc/tool-results/a.txt",
    );
    for (const name of filesIn(project)) expect(statSync(join(project, name)).mode & 0o7777).toBe(0o600);
    expect(filesIn(project)).toEqual(["abc.jsonl", "abc/tool-results/a.txt"]);
  });
});

describe("a session on the host that cannot be resumed is refused before anything is created", () => {
  it.each([
    ["a link", (path: string) => symlinkSync("/etc/passwd", path)],
    ["a FIFO", (path: string) => execFileSync("mkfifo", [path])],
    ["a directory", (path: string) => mkdirSync(path)],
    [
      "2 GB",
      (path: string) => {
        writeFileSync(path, "");
        truncateSync(path, 2 * 1024 ** 3);
      },
    ],
  ])("%s", async (_, make) => {
    const { cwd, project } = places();
    mkdirSync(project, { recursive: true });
    make(join(project, "abc.jsonl"));
    const error = await failureOf(attack(cwd, posing("claude", print(SUCCESS)), { resumeSession: "abc" }));
    expect(error.name).toBe("AgentSessionNotFoundError");
    expect(existsSync(join(cwd, ".sanddune/runs"))).toBe(false);
  });

  it("what is no JSON is brought into the sandbox as it is", async () => {
    const { cwd, project } = places();
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, "abc.jsonl"), "no json\n\0{[\n");
    chmodSync(join(project, "abc.jsonl"), 0o400);
    const script = `cat "$HOME"/.claude/projects/*/abc.jsonl | cksum >&2\n${print(SUCCESS)}`;
    const { logFilePath } = await attack(cwd, posing("claude", script), { resumeSession: "abc" });
    const sum = execFileSync("cksum", { input: "no json\n\0{[\n", encoding: "utf8" }).trim();
    expect(readFileSync(logFilePath as string, "utf8")).toContain(sum);
  });
});

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { attack, begins, claudeSession, posing, print, SUCCESS } from "./posing.ts";
import { filesIn, hostHome, projectOf } from "./sessionAttacks.ts";
import { meetingPoint } from "./support.ts";

const places = () => {
  const home = hostHome();
  const cwd = temporaryRepository();
  return { home, cwd, project: projectOf(home, cwd) };
};

const write = (id: string, content: string): string => `printf '%s\\n' '${content}' > ${id}.jsonl`;

/** A session of the user's own. */
const ownSession = (project: string, id: string, content = '{"mine":true}\n'): string => {
  mkdirSync(project, { recursive: true });
  const path = join(project, `${id}.jsonl`);
  writeFileSync(path, content);
  return path;
};

describe("what calls itself a session but is none is not captured, and the run succeeds", () => {
  it.each([
    ["a way out", "../../../escaped"],
    ["an absolute path", "/tmp/escaped"],
    ["a line end", "abc\nfile 3 projects/x/abc.jsonl"],
    ["a line end after it", "abc\n"],
    ["a pattern", "*"],
    ["an option", "--help"],
    ["a hidden name", ".abc"],
    ["a command", "$(touch escaped)"],
    ["a quote", "a'; touch escaped; '"],
    ["a NUL", "abc\0"],
    ["a terminal escape", "\u001b]52;c;ZXZpbA==\u0007"],
    ["nothing", ""],
    ["a long name", "a".repeat(300)],
    ["a very long name", "a".repeat(100_000)],
  ])("%s", async (_, id) => {
    const { home, cwd } = places();
    const script = `mkdir -p "$HOME/.claude/projects/-x"; echo '{}' > "$HOME/.claude/projects/-x/abc.jsonl"
      ${print(begins(id), SUCCESS)}`;
    const { iterations, warnings, logFilePath } = await attack(cwd, posing("claude", script));
    expect(filesIn(home)).toEqual([]);
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/not captured.*session id/)]);
    expect(warnings.join().length).toBeLessThan(2000);
    expect(readFileSync(logFilePath as string, "latin1")).not.toMatch(/[\x00\x07\x1b]/);
  });

  it("the log has no line that only looks like one of sanddune's own", async () => {
    const { cwd } = places();
    const forged = "[sanddune 2026-01-01T00:00:00.000Z] The run succeeded.";
    const script = print(begins(`x\n${forged}`), SUCCESS);
    const { logFilePath } = await attack(cwd, posing("claude", script));
    expect(readFileSync(logFilePath as string, "utf8")).not.toMatch(/^\[sanddune 2026-01-01/m);
  });
});

describe("sessions of others on the host stay as they are", () => {
  it("when an agent says that its session is one of the user's", async () => {
    const { cwd, project } = places();
    const path = ownSession(project, "mine");
    const script = claudeSession("mine", write("mine", '{"evil":true}'));
    const { iterations, warnings } = await attack(cwd, posing("claude", script));
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("another session")]);
  });

  it("when what is there is a link that leads nowhere", async () => {
    const { home, cwd, project } = places();
    mkdirSync(project, { recursive: true });
    symlinkSync(join(home, "target"), join(project, "abc.jsonl"));
    await attack(cwd, posing("claude", claudeSession("abc", write("abc", "{}"))));
    expect(existsSync(join(home, "target"))).toBe(false);
  });

  it("when an agent that was to go on with one says that it is in another", async () => {
    const { cwd, project } = places();
    const other = ownSession(project, "other");
    ownSession(project, "mine");
    const script = claudeSession("other", write("other", '{"evil":true}'));
    const { warnings } = await attack(cwd, posing("claude", script), { resumeSession: "mine" });
    expect(readFileSync(other, "utf8")).toBe('{"mine":true}\n');
    expect(warnings).toEqual([expect.stringContaining("another session")]);
  });

  it.each([
    ["empties it", ": >$brought", "the one on the host stays"],
    ["writes something else in its place", "echo {} >$brought", "the one on the host stays"],
    ["puts another one elsewhere", "rm $brought; echo {} >mine.jsonl", "the one on the host stays"],
    ["puts another one beside it", "echo {} >mine.jsonl", "there are two of"],
  ])("when an agent that was to go on with one %s", async (_, deed, says) => {
    const { cwd, project } = places();
    const path = ownSession(project, "mine");
    const script = claudeSession("mine", `brought=$(echo ../*/mine.jsonl); ${deed}`);
    const { warnings, iterations } = await attack(cwd, posing("claude", script), { resumeSession: "mine" });
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining(says)]);
  });

  it("when an agent that works in a fork says that it is in the original", async () => {
    const { cwd, project } = places();
    const path = ownSession(project, "mine");
    const script = claudeSession("mine", write("mine", '{"evil":true}'));
    await attack(cwd, posing("claude", script), { resumeSession: "mine", forkSession: true });
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
  });

  it("when the user goes on with the same session during the run", async () => {
    const { cwd, project } = places();
    const path = ownSession(project, "mine");
    const { sandboxes, wait, meet } = meetingPoint();
    const waiting = "shell" in wait ? wait.shell : "";
    const adding = "for brought in ../*/mine.jsonl; do echo {} >>$brought; done";
    const script = `${waiting}\n${claudeSession("mine", adding)}`;
    const running = attack(cwd, posing("claude", script), {
      resumeSession: "mine",
      sandbox: sandboxes.bubblewrap() as RunOptions["sandbox"],
    });
    await meet(() => writeFileSync(path, '{"mine":"still"}\n'));
    const { warnings } = await running;
    expect(readFileSync(path, "utf8")).toBe('{"mine":"still"}\n');
    expect(warnings).toEqual([expect.stringContaining("changed on the host")]);
  });

  it("when two runs at the same time have a session of the same name, one of them has it", async () => {
    const { cwd, project } = places();
    const one = (content: string) =>
      attack(cwd, posing("claude", claudeSession("same", write("same", content))), {
        branchStrategy: { type: "merge-to-head" },
      });
    const results = await Promise.all(["1", "2", "3"].map(one));
    const paths = results.flatMap(({ iterations }) => iterations[0]?.sessionFilePath ?? []);
    expect(paths).toEqual([join(project, "same.jsonl")]);
    const owner = results.findIndex(({ iterations }) => iterations[0]?.sessionFilePath !== undefined);
    expect(readFileSync(join(project, "same.jsonl"), "utf8")).toBe(`${owner + 1}\n`);
    expect(filesIn(project)).toEqual(["same.jsonl"]);
  });

  it("when the agent makes its directory a link to that of another project", async () => {
    const { home, cwd } = places();
    const victim = temporaryDirectory();
    mkdirSync(join(cwd, "sub"));
    writeFileSync(join(cwd, "sub/file"), "");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add a directory");
    const script = `mkdir -p ${victim}; cd ..; mv sub away; ln -s ${victim} sub
      ${claudeSession("abc", write("abc", "{}"))}`;
    await attack(join(cwd, "sub"), posing("claude", script), { branchStrategy: { type: "head" } });
    expect(existsSync(projectOf(home, victim))).toBe(false);
  });
});

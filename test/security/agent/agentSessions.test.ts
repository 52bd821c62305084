import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { attack, begins, claudeSession, posing, print, SUCCESS } from "./posing.ts";
import { filesIn, hostHome, projectOf, sessionScene } from "./sessionAttacks.ts";

const write = (id: string, content: string): string => `printf '%s\\n' '${content}' > ${id}.jsonl`;

/** A session of the user's own. */
const ownSession = (project: string, id: string, content = '{"mine":true}\n'): string => {
  mkdirSync(project, { recursive: true });
  const path = join(project, `${id}.jsonl`);
  writeFileSync(path, content);
  return path;
};

it("a file that is called a session but is not one is not captured, the run succeeds, and its log is not forged", async () => {
  const home = hostHome();
  const ids = [
    "../../../escaped",
    "abc\nfile 3 projects/x/abc.jsonl",
    "\u001b]52;c;ZXZpbA==\u0007",
    "a".repeat(100_000),
    "x\n[sanddune 2026-01-01T00:00:00.000Z] The run succeeded.",
  ];
  const script = (attempt: number) =>
    `mkdir -p "$HOME/.claude/projects/-x"; echo '{}' > "$HOME/.claude/projects/-x/abc.jsonl"
     ${print(begins(ids[attempt - 1] ?? ""), SUCCESS)}`;
  const { iterations, warnings, logFilePath } = await attack(
    temporaryRepository(),
    posing("claude", script),
    {
      maxIterations: ids.length,
    },
  );
  expect(filesIn(home)).toEqual([]);
  expect(iterations.map(({ sessionFilePath }) => sessionFilePath)).toEqual(ids.map(() => undefined));
  // The same is not said twice.
  expect(warnings).toEqual([expect.stringMatching(/not captured.*session id/)]);
  const log = readFileSync(logFilePath as string, "latin1");
  expect(log).not.toMatch(/[\x00\x07\x1b]/);
  expect(log).not.toMatch(/^\[sanddune 2026-01-01/m);
});

describe("sessions of others on the host stay as they are", () => {
  it("when an agent says that its session is one of the user", async () => {
    const { project, inProject, capture } = await sessionScene();
    const path = ownSession(project, "mine");
    await inProject(write("mine", '{"evil":true}'));
    await expect(capture("mine")).rejects.toThrow("another session");
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
  });

  it("when what is there is a link that leads nowhere", async () => {
    const { home, project, inProject, capture } = await sessionScene();
    mkdirSync(project, { recursive: true });
    symlinkSync(join(home, "target"), join(project, "abc.jsonl"));
    await inProject(write("abc", "{}"));
    await expect(capture()).rejects.toThrow("another session");
    expect(existsSync(join(home, "target"))).toBe(false);
  });

  it("when an agent that was to continue with one says that it is in another", async () => {
    const cwd = temporaryRepository();
    const project = projectOf(hostHome(), cwd);
    const other = ownSession(project, "other");
    ownSession(project, "mine");
    const script = claudeSession("other", write("other", '{"evil":true}'));
    const { warnings } = await attack(cwd, posing("claude", script), { resumeSession: "mine" });
    expect(readFileSync(other, "utf8")).toBe('{"mine":true}\n');
    expect(warnings).toEqual([expect.stringContaining("another session")]);
  });

  it.each([
    ["empties it", ": >$brought", "does not continue the file on the host"],
    ["writes something else in its place", "echo {} >$brought", "does not continue the file on the host"],
    [
      "puts another one elsewhere",
      "rm $brought; echo {} >mine.jsonl",
      "does not continue the file on the host",
    ],
    ["puts another one beside it", "echo {} >mine.jsonl", "there are two of"],
  ])("when an agent that was to continue with one %s", async (_, deed, says) => {
    const { project, bring, inProject, capture } = await sessionScene();
    const path = ownSession(project, "mine");
    await bring("mine");
    await inProject(`brought=$(echo ../*/mine.jsonl); ${deed}`);
    await expect(capture("mine")).rejects.toThrow(says);
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
  });

  it("when an agent that works in a fork says that it is in the original", async () => {
    const cwd = temporaryRepository();
    const path = ownSession(projectOf(hostHome(), cwd), "mine");
    const script = claudeSession("mine", write("mine", '{"evil":true}'));
    await attack(cwd, posing("claude", script), { resumeSession: "mine", forkSession: true });
    expect(readFileSync(path, "utf8")).toBe('{"mine":true}\n');
  });

  it("when the user continues the same session during the run", async () => {
    const { project, bring, inProject, capture } = await sessionScene();
    const path = ownSession(project, "mine");
    await bring("mine");
    await inProject("for brought in ../*/mine.jsonl; do echo {} >>$brought; done");
    writeFileSync(path, '{"mine":"still"}\n');
    await expect(capture("mine")).rejects.toThrow("changed on the host");
    expect(readFileSync(path, "utf8")).toBe('{"mine":"still"}\n');
  });

  it("when several runs at the same time have a session of the same name, one of them has it", async () => {
    const cwd = temporaryDirectory();
    const scenes = await Promise.all(["1", "2", "3"].map(() => sessionScene(cwd)));
    await Promise.all(scenes.map(({ inProject }, index) => inProject(write("same", `${index}`))));
    const captures = await Promise.allSettled(scenes.map(({ capture }) => capture("same")));
    const owner = captures.findIndex(({ status }) => status === "fulfilled");
    expect(captures.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { project = "" } = scenes.at(-1) ?? {};
    expect(readFileSync(join(project, "same.jsonl"), "utf8")).toBe(`${owner}\n`);
    expect(filesIn(project)).toEqual(["same.jsonl"]);
  });
});

describeWith(["bubblewrap"], "an agent in the user's own checkout", () => {
  it("that makes its directory a link to that of another project puts no session there", async () => {
    const home = hostHome();
    const cwd = temporaryRepository();
    const victim = temporaryDirectory();
    mkdirSync(join(cwd, "sub"));
    writeFileSync(join(cwd, "sub/file"), "");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add a directory");
    const script = `mkdir -p ${victim}; cd ..; mv sub away; ln -s ${victim} sub
      ${claudeSession("abc", write("abc", "{}"))}`;
    await attack(join(cwd, "sub"), posing("claude", script), {
      sandbox: bubblewrap(),
      branchStrategy: { type: "head" },
    });
    expect(existsSync(projectOf(home, victim))).toBe(false);
  });
});

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stop, transformSync } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { linkPackage } from "../../helpers/linkPackage.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const ROOT = join(import.meta.dirname, "../../..");
const EXAMPLES = join(ROOT, "docs/examples");

/** A repository that has these files in it, and sanddune as an installed package beside them. */
const projectWith = (files: Readonly<Record<string, string>>): string => {
  const cwd = temporaryRepository();
  for (const [name, content] of Object.entries({ ".gitignore": "node_modules\n.sanddune\n", ...files })) {
    writeFileSync(join(cwd, name), content);
  }
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Prepare");
  linkPackage(cwd);
  return cwd;
};

interface RunOfRecipe {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a recipe as it stands in the documents; its types are taken away, since not every Node does that itself. */
const runRecipe = (cwd: string, name: string, { args = [], env = {} }: RunOfRecipe = {}) => {
  const { code } = transformSync(readFileSync(join(EXAMPLES, `${name}.ts`), "utf8"), {
    loader: "ts",
    target: "node20",
  });
  // It would keep a process until the end of the test file.
  stop();
  const program = join(cwd, "node_modules", `${name}.mjs`);
  writeFileSync(program, code);
  return spawnSync(process.execPath, [program, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
};

const subjects = (cwd: string, range: string): string[] =>
  git(cwd, "log", "--reverse", "--format=%s", range).split("\n");

const COMMIT = "git add --all && git commit --quiet -m";

describeWith(["bubblewrap"], "the recipes of the documents", () => {
  beforeAll(() => {
    builtCli();
  });

  it("make a pull request of an issue, once the tests pass", () => {
    const cwd = projectWith({
      "agent.sh": `case "$(cat)" in
  *"tests fail"*broken*) echo good > state; ${COMMIT} 'Mend it' ;;
  *"issue 7"*) echo broken > state; ${COMMIT} 'Fix it' ;;
esac\n`,
      "test.sh": 'cat state; test "$(cat state)" = good\n',
    });
    const remote = temporaryDirectory();
    git(remote, "init", "--quiet", "--bare");
    git(cwd, "remote", "add", "origin", remote);
    const programs = temporaryDirectory();
    writeFileSync(join(programs, "gh"), '#!/bin/sh\nprintf "%s\\n" "$@" > "$GH_SAID"\n');
    chmodSync(join(programs, "gh"), 0o755);
    const said = join(programs, "said");

    const { status, stderr } = runRecipe(cwd, "pr-pipeline", {
      args: ["7"],
      env: { PATH: `${programs}:${process.env["PATH"]}`, GH_SAID: said },
    });

    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(subjects(remote, "agent/issue-7").slice(-2)).toEqual(["Fix it", "Mend it"]);
    expect(readFileSync(said, "utf8")).toContain("--head\nagent/issue-7\n");
    expect(readFileSync(said, "utf8")).not.toContain("--draft");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("open no pull request when the agent has committed nothing", () => {
    const cwd = projectWith({ "agent.sh": "cat > /dev/null\n", "test.sh": "true\n" });
    const { status, stderr } = runRecipe(cwd, "pr-pipeline", { args: ["7"] });
    expect(status).toBe(1);
    expect(stderr).toContain("committed nothing for issue 7");
    expect(leftovers(cwd)).toEqual([]);
  });

  const AUTHOR = `case "$(cat)" in
  *"Say who"*) echo 'Goodbye, Ada' > farewell; ${COMMIT} 'Say who' ;;
  *) echo Goodbye > farewell; ${COMMIT} 'Say goodbye' ;;
esac\n`;

  it("let an author answer a reviewer until there is nothing left to say", () => {
    const cwd = projectWith({
      "author.sh": AUTHOR,
      "reviewer.sh":
        'cat > /dev/null\ngit diff main...HEAD | grep -q Ada && echo "<remarks></remarks>" || echo "<remarks>Say who</remarks>"\n',
    });
    const { status, stdout } = runRecipe(cwd, "review-loop");
    expect(stdout).toMatch(/^Round 1:\nSay who\nApproved: agent\/reviewed$/m);
    expect(status).toBe(0);
    expect(subjects(cwd, "main..agent/reviewed")).toEqual(["Say goodbye", "Say who"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("read a review as data, with a schema", () => {
    const cwd = projectWith({
      "reviewer.sh":
        'cat > /dev/null\necho \'<review>{"approved": false, "remarks": ["Say who"]}</review>\'\n',
    });
    symlinkSync(join(ROOT, "node_modules/zod"), join(cwd, "node_modules/zod"));
    const { status, stdout, stderr } = runRecipe(cwd, "structured-output");
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: "Say who\n" });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("leave it to a person when the reviewer is never content", () => {
    const cwd = projectWith({
      "author.sh": AUTHOR.replaceAll("git commit", "git commit --allow-empty"),
      "reviewer.sh": "cat > /dev/null\necho '<remarks>Say who</remarks>'\n",
    });
    const { status, stdout } = runRecipe(cwd, "review-loop");
    expect(status).toBe(1);
    expect(stdout).toContain("Look at it yourself: agent/reviewed");
    expect(leftovers(cwd)).toEqual([]);
  });

  const PLANNED = `prompt=$(cat)
case $prompt in
  Read*) printf '<tasks>\\none Write one\\ntwo Write two\\nbad Fail\\n; not a task\\n</tasks>\\n' ;;
  "Write "*) set -- $prompt; echo "$2" > "$2"; ${COMMIT} "Write $2" ;;
  *) exit 3 ;;
esac\n`;

  it("plan tasks, do them side by side, and merge what succeeds", () => {
    const cwd = projectWith({ "agent.sh": PLANNED, "TASKS.md": "one, two, bad\n" });
    const { status, stdout, stderr } = runRecipe(cwd, "parallel-planner");
    expect(stdout.split("\n").filter(Boolean).sort()).toEqual([
      "one: 1 commits, merged",
      "two: 1 commits, merged",
    ]);
    expect(stderr).toMatch(/^bad: .*exit code 3/m);
    expect(status).toBe(1);
    expect(existsSync(join(cwd, "one."))).toBe(true);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("say in a CI job what an unattended agent has done", () => {
    const cwd = projectWith({
      "agent.sh": `cat > prompt.txt; ${COMMIT} 'Fix it'; echo '<promise>COMPLETE</promise>'\n`,
    });
    cpSync(join(EXAMPLES, "prompts"), join(cwd, "prompts"), { recursive: true });
    const summary = join(temporaryDirectory(), "summary.md");
    const { status } = runRecipe(cwd, "ci", { env: { ISSUE: "7", GITHUB_STEP_SUMMARY: summary } });
    expect(readFileSync(summary, "utf8")).toBe("Done: 1 commits on agent/issue-7\n\n");
    expect(status).toBe(0);
    expect(git(cwd, "show", "agent/issue-7:prompt.txt")).toContain("Fix issue 7. You are on agent/issue-7");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("fail a CI job whose agent failed, and say how many commits there are all the same", () => {
    const cwd = projectWith({ "agent.sh": `cat > prompt.txt; ${COMMIT} 'Half of it'; exit 3\n` });
    cpSync(join(EXAMPLES, "prompts"), join(cwd, "prompts"), { recursive: true });
    const { status, stdout } = runRecipe(cwd, "ci", { env: { ISSUE: "7" } });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^Failed with 1 commits: .*exit code 3/m);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("grade two agents with the same scenarios", () => {
    const cwd = projectWith({});
    cpSync(join(EXAMPLES, "greeter"), cwd, { recursive: true });
    const installs = `curl -s "$(sed -n 's/.*fetch source files from \\([^ ]*\\) .*/\\1/p')/greeting.txt" > greeting.txt\n`;
    writeFileSync(join(cwd, "fixtures/node/careful.sh"), installs);
    writeFileSync(join(cwd, "fixtures/node/hasty.sh"), "cat > /dev/null; echo hi > greeting.txt\n");
    const { status, stdout, stderr } = runRecipe(cwd, "grade-agents");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^careful: install-node: passing $/m);
    expect(stdout).toMatch(/^careful: 3 of 3 pass$/m);
    expect(stdout).toMatch(/^hasty: install-node: failing /m);
    expect(stdout).toMatch(/^hasty: 0 of 3 pass$/m);
    expect(existsSync(join(cwd, "runs/careful/index.json"))).toBe(true);
    expect(leftovers(cwd)).toEqual([]);
  });
});

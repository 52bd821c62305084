import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched } from "../fixtures.ts";
import { runCliProcess } from "../startCli.ts";

/** The flags that answer every question. */
const ANSWERS = [
  ...["--agent", "codex", "--model", "gpt-6-sol", "--sandbox", "podman"],
  ...["--template", "simple-loop", "--backlog", "github-issues", "--no-build"],
];

const FILES = [
  ".containerignore",
  ".env.example",
  ".gitignore",
  "Containerfile",
  "config.json",
  "main.mts",
  "prompt.md",
];

/** Sends init a signal just before it makes its nth change in the repository. */
const signalAtChange = (signal: string, nth: number, cwd: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "../initSignal.mjs"))}`,
  SIGNAL_AT_CHANGE: `${signal} ${nth} ${cwd}`,
});

/** Types commands at a shell, as the user would. */
const type = (cwd: string, ...commands: string[]): void => {
  execFileSync("sh", ["-ec", commands.join("\n")], { cwd, stdio: ["ignore", "ignore", "pipe"] });
};

/** What is at the top of a repository besides what it began with. */
const addedTo = (cwd: string): string[] =>
  readdirSync(cwd).filter((name) => ![".git", "README.md"].includes(name));

interface Result {
  readonly directory: string;
  readonly files: string[];
  readonly imageName?: string;
  readonly built: boolean;
  readonly problem?: string;
  readonly next: { readonly what: string; readonly command?: string }[];
}

const initForPrograms = async (
  cwd: string,
  flags: readonly string[],
  env?: Record<string, string>,
): Promise<Result> => {
  const { exitCode, stdout, stderr } = await runCli(["init", "--json", "--no-build", ...flags], {
    cwd,
    ...(env && { env }),
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
};

const commandsOf = ({ next }: Result): (string | undefined)[] => next.map(({ command }) => command);

describe("sanddune init", () => {
  it("makes the config directory, and says what is left to do", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stdout, stderr } = await runCli(["init", ...ANSWERS], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(addedTo(cwd)).toEqual([".sanddune"]);
    expect(readdirSync(join(cwd, ".sanddune")).sort()).toEqual(FILES);
    for (const name of FILES) expect(stdout).toContain(`\n  ${name}\n`);
    expect(stdout).toContain("npx sanddune podman build-image");
    expect(stdout).toMatch(/\n {2}\d\. Start the agents\n {7}\S.* \.sanddune\/main\.mts\n$/);
  });

  it("prints the same as one JSON object", async () => {
    const cwd = temporaryRepository();
    const result = await initForPrograms(cwd, ["--yes", "--image-name", "sanddune:my-app"]);
    expect(result).toMatchObject({
      directory: join(cwd, ".sanddune"),
      imageName: "sanddune:my-app",
      built: false,
    });
    expect(result.files).toEqual(readdirSync(join(cwd, ".sanddune")).sort());
    expect(commandsOf(result)).toContain("npx sanddune docker build-image");
    expect(readFileSync(join(cwd, ".sanddune/main.mts"), "utf8")).toContain(
      'docker({ imageName: "sanddune:my-app" })',
    );
  });

  it("works from a directory below, for the whole repository", async () => {
    const top = temporaryRepository();
    const cwd = join(top, "packages");
    mkdirSync(cwd);
    const result = await initForPrograms(cwd, ["--yes", "--sandbox", "bubblewrap"]);
    expect(result.directory).toBe(join(top, ".sanddune"));
    expect(commandsOf(result)[0]).toBe(`cd ${top}`);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("hides secrets and what runs write from git, and nothing else", async () => {
    const cwd = temporaryRepository();
    await initForPrograms(cwd, ["--yes"]);
    writeFileSync(join(cwd, ".sanddune/.env"), "KEY=value\n");
    for (const part of ["worktrees", "runs", "logs"]) {
      mkdirSync(join(cwd, ".sanddune", part));
      writeFileSync(join(cwd, ".sanddune", part, "file"), "");
    }
    git(cwd, "add", ".sanddune");
    expect(git(cwd, "diff", "--cached", "--name-only").split("\n")).toEqual(
      [
        ".dockerignore",
        ".env.example",
        ".gitignore",
        "Dockerfile",
        "config.json",
        "main.mts",
        "prompt.md",
      ].map((name) => `.sanddune/${name}`),
    );
  });

  it.each([
    ['{ "type": "module" }', "main.ts"],
    ['{ "type": "commonjs" }', "main.mts"],
    ["{}", "main.mts"],
    ["null", "main.mts"],
    ["{ this is no JSON", "main.mts"],
  ])("calls the main file as Node needs it: package.json %s, %s", async (packageJson, main) => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "package.json"), packageJson);
    const { files, next } = await initForPrograms(cwd, ["--yes"]);
    expect(files.filter((name) => name.startsWith("main"))).toEqual([main]);
    expect(next.at(-1)?.command).toMatch(new RegExp(` \\.sanddune/${main}$`));
  });

  it.each([
    ["package-lock.json", "npm install --save-dev @missingstudio/sanddune", "npx sanddune doctor"],
    ["pnpm-lock.yaml", "pnpm add --save-dev @missingstudio/sanddune", "pnpm exec sanddune doctor"],
    ["yarn.lock", "yarn add --dev @missingstudio/sanddune", "yarn sanddune doctor"],
    ["bun.lock", "bun add --dev @missingstudio/sanddune", "bunx sanddune doctor"],
  ])("speaks the language of the package manager that has a %s", async (lockFile, install, doctor) => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, lockFile), "");
    const commands = commandsOf(await initForPrograms(cwd, ["--yes"]));
    expect(commands).toContain(install);
    expect(commands).toContain(doctor);
  });

  it.each([
    [
      ["pnpm-lock.yaml", "pnpm-workspace.yaml"],
      "pnpm add --save-dev --workspace-root @missingstudio/sanddune",
    ],
    [["package.json", "yarn.lock"], "yarn add --dev --ignore-workspace-root-check @missingstudio/sanddune"],
    [["package.json", "yarn.lock", ".yarnrc.yml"], "yarn add --dev @missingstudio/sanddune"],
    [["package.json", "package-lock.json"], "npm install --save-dev @missingstudio/sanddune"],
  ])("says how to install at the top of a workspace: %j", async (files, install) => {
    const cwd = temporaryRepository();
    const isYarn1 = !files.includes(".yarnrc.yml");
    const contents: Record<string, string> = {
      "package.json": '{ "workspaces": ["packages/*"] }',
      "yarn.lock": isYarn1
        ? "# THIS IS AN AUTOGENERATED FILE.\n# yarn lockfile v1\n"
        : "__metadata:\n  version: 8\n",
    };
    for (const name of files) writeFileSync(join(cwd, name), contents[name] ?? "");
    expect(commandsOf(await initForPrograms(cwd, ["--yes"]))).toContain(install);
  });

  it.each([
    ["nothing yet", [], ["package.json", "package-lock.json"]],
    ["a lock file", ["package.json", "yarn.lock"], ["package.json", "yarn.lock"]],
    ["no lock file on purpose", ["package.json"], ["package.json"]],
  ])("has all that belongs to it committed where there is %s", async (_, before, after) => {
    const cwd = temporaryRepository();
    for (const name of before) writeFileSync(join(cwd, name), "{}\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Begin");
    const commands = commandsOf(await initForPrograms(cwd, ["--yes"]));
    // As the package manager does.
    for (const name of after) writeFileSync(join(cwd, name), '{ "devDependencies": {} }\n');
    type(cwd, commands.find((command) => command?.startsWith("git add ")) ?? "");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it.each([
    ["package.json", "{}", undefined, true],
    [".gitignore", "*.log\n", undefined, true],
    [".gitignore", "node_modules\n", undefined, false],
    ["yarn.lock", "__metadata:\n", "package.json", false],
  ])(
    "has git ignore installed packages where it does not, so that no agent commits them: %s, %j",
    async (name, text, other, isNeeded) => {
      const cwd = temporaryRepository();
      writeFileSync(join(cwd, name), text);
      if (other !== undefined) writeFileSync(join(cwd, other), "{}");
      const command = commandsOf(await initForPrograms(cwd, ["--yes"])).find((step) =>
        step?.includes(".gitignore"),
      );
      expect(command !== undefined).toBe(isNeeded);
      if (command === undefined) return;
      type(cwd, command);
      mkdirSync(join(cwd, "node_modules"));
      writeFileSync(join(cwd, "node_modules/a.js"), "");
      expect(git(cwd, "status", "--porcelain", "--", "node_modules")).toBe("");
    },
  );

  it("makes the env file unreadable for other users", async () => {
    const cwd = temporaryRepository();
    const commands = commandsOf(await initForPrograms(cwd, ["--yes"]));
    type(cwd, commands.find((command) => command?.endsWith(" .sanddune/.env")) ?? "");
    expect(statSync(join(cwd, ".sanddune/.env")).mode & 0o777).toBe(0o600);
  });

  it("does not propose to replace an env file", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "ANTHROPIC_API_KEY=mine\n");
    const result = await initForPrograms(cwd, ["--yes"]);
    expect(commandsOf(result).join()).not.toContain(".env");
    expect(result.next.map(({ what }) => what).join()).toContain(".env.example");
  });

  it("goes by the package manager that has started it where the repository says nothing", async () => {
    const cwd = temporaryRepository();
    const env = { npm_config_user_agent: "pnpm/10.0.0 npm/? node/v22.18.0 linux x64" };
    expect(commandsOf(await initForPrograms(cwd, ["--yes"], env))).toContain(
      "pnpm add --save-dev @missingstudio/sanddune",
    );
  });

  it("does not say to install what is installed", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "node_modules/@missingstudio/sanddune"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/@missingstudio/sanddune/package.json"), "{}");
    const commands = commandsOf(await initForPrograms(cwd, ["--yes"]));
    expect(commands).not.toContain("npm install --save-dev @missingstudio/sanddune");
    expect(commands).toContain('git add .sanddune && git commit -m "Set up sanddune"');
  });
});

describe("sanddune init with flags that do not do", () => {
  it("names every missing flag, with its choices, without a terminal", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli(["init", "--template", "simple-loop"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--agent claude-code|codex|");
    expect(stderr).toContain("--model … (e.g. ");
    expect(stderr).toContain("--sandbox docker|podman|bubblewrap\n");
    expect(stderr).toContain("--backlog github-issues|beads|none\n");
    expect(stderr).toContain("--yes");
    expect(stderr).not.toContain("--template");
    expectUntouched(cwd);
  });

  it("has no default for the command line of an agent", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli(["init", "--agent", "command", "--yes"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--agent-command …");
    expectUntouched(cwd);
  });

  it.each([
    [["--agent", "nobody"], /--agent: there is no "nobody"\. Expected one of: claude-code, .*command/],
    [["--agent", "toString"], /--agent: there is no "toString"/],
    [["--model", "-x"], /--model: must be the name of a model/],
    [["--agent-command", " "], /--agent-command: the command line is empty/],
    [["--agent-command", "sh x", "--model", "m"], /--model: the agent command has no model/],
    [["--agent", "pi", "--agent-command", "sh x"], /--agent-command needs --agent command/],
    [["--sandbox", "vm"], /--sandbox: there is no "vm"\. Expected one of: docker, podman, bubblewrap/],
    [["--template", "big"], /--template: there is no "big"\. Expected one of: blank, simple-loop/],
    [["--backlog", "jira"], /--backlog: there is no "jira"\. Expected one of: github-issues, beads, none/],
    [["--backlog", "beads"], /--backlog: the template blank does not use a backlog/],
    [["--image-name", "--privileged"], /--image-name/],
    [["--image-name", "Not A Name"], /--image-name: "Not A Name" is no name for an image/],
    [["--sandbox", "bubblewrap", "--image-name", "x"], /--image-name: bubblewrap has no images/],
    [["--base", "windows"], /--base: there is no "windows"\. Expected one of: node, ubuntu/],
    [["--sandbox", "bubblewrap", "--base", "ubuntu"], /--base: bubblewrap has no images/],
    [["--surprise"], /unknown option/],
  ])("refuses %j, and makes nothing", async (flags, message) => {
    const cwd = temporaryRepository();
    const { exitCode, stdout, stderr } = await runCli(["init", "--yes", ...flags], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expectUntouched(cwd);
  });

  it("needs a git repository", async () => {
    const cwd = temporaryDirectory();
    const { exitCode, stderr } = await runCli(["init", "--yes", "--no-build"], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("is not inside a git repository");
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("sanddune init where there is something already", () => {
  const THINGS: [string, (path: string) => void, (path: string) => unknown][] = [
    [
      "a scaffold that was edited",
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, "Dockerfile"), "FROM mine\n");
      },
      (path) => [readdirSync(path), readFileSync(join(path, "Dockerfile"), "utf8")],
    ],
    [
      "a scaffold that runs have worked beside",
      (path) => {
        mkdirSync(join(path, "worktrees/one"), { recursive: true });
        writeFileSync(join(path, "config.json"), "{}\n");
      },
      (path) => [readdirSync(path), readdirSync(join(path, "worktrees"))],
    ],
    ["an empty directory", (path) => mkdirSync(path), (path) => readdirSync(path)],
    ["a file", (path) => writeFileSync(path, "mine"), (path) => readFileSync(path, "utf8")],
    ["a link to nowhere", (path) => symlinkSync("nowhere", path), (path) => readlinkSync(path)],
    ["a link to a directory", (path) => symlinkSync(temporaryDirectory(), path), (path) => readdirSync(path)],
  ];

  it.each(THINGS)("refuses to touch %s", async (_, make, look) => {
    const cwd = temporaryRepository();
    const path = join(cwd, ".sanddune");
    make(path);
    const before = { seen: look(path), changedAt: lstatSync(path).mtimeMs };
    const { exitCode, stderr } = await runCli(["init", ...ANSWERS], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${path} already exists`);
    expect({ seen: look(path), changedAt: lstatSync(path).mtimeMs }).toEqual(before);
    expect(addedTo(cwd)).toEqual([".sanddune"]);

    // What it says to type makes room, and nothing is lost by it.
    type(cwd, ...(stderr.split("Next:\n")[1]?.trimEnd().split("\n") ?? ["false"]));
    expect((await runCli(["init", ...ANSWERS], { cwd })).exitCode).toBe(0);
    expect(readdirSync(path)).toEqual(expect.arrayContaining(FILES));
    expect(existsSync(join(path, "worktrees/one"))).toBe(
      before.seen?.toString().includes("worktrees") ?? false,
    );
  });

  it("names the files where an answer can be changed", async () => {
    const cwd = temporaryRepository();
    await initForPrograms(cwd, ["--yes"]);
    const { stderr } = await runCli(["init", ...ANSWERS], { cwd });
    expect(stderr).toContain("To change an answer, edit config.json");
  });

  it("says so before it asks for anything", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    const { exitCode, stderr } = await runCli(["init"], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain("--agent");
  });

  it("adds itself to what earlier runs have left, and leaves that alone", async () => {
    const cwd = temporaryRepository();
    const kept = ["runs/1/journal.jsonl", "logs/1.log", ".env", "scenarios.json"].map((name) =>
      join(cwd, ".sanddune", name),
    );
    mkdirSync(join(cwd, ".sanddune/runs/1"), { recursive: true });
    mkdirSync(join(cwd, ".sanddune/logs"));
    for (const path of kept) writeFileSync(path, "kept");
    const { exitCode } = await runCli(["init", ...ANSWERS], { cwd });
    expect(exitCode).toBe(0);
    for (const path of kept) expect(readFileSync(path, "utf8")).toBe("kept");
    expect(readdirSync(join(cwd, ".sanddune")).sort()).toEqual(
      [...FILES, ".env", "logs", "runs", "scenarios.json"].sort(),
    );
    expect(addedTo(cwd)).toEqual([".sanddune"]);
  });
});

describe("sanddune init, all or nothing", () => {
  it.each([
    ["nothing is there", () => {}],
    [
      "earlier runs have left something",
      (cwd: string) => mkdirSync(join(cwd, ".sanddune/logs"), { recursive: true }),
    ],
  ])("of several at once exactly one makes its whole scaffold, when %s", async (_, prepare) => {
    const cwd = temporaryRepository();
    prepare(cwd);
    const results = await Promise.all(
      ["docker", "podman", "bubblewrap"].map((sandbox) =>
        runCliProcess(["init", "--json", "--yes", "--no-build", "--sandbox", sandbox], { cwd }),
      ),
    );
    expect(results.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1, 1]);
    const { files } = JSON.parse(results.find(({ exitCode }) => exitCode === 0)?.stdout ?? "") as Result;
    const made = readdirSync(join(cwd, ".sanddune")).filter((name) => name !== "logs");
    expect(made.sort()).toEqual(files);
    expect(addedTo(cwd)).toEqual([".sanddune"]);
  });

  it.each(["SIGINT", "SIGTERM"])(
    "finishes the scaffold that it has begun when there is a %s",
    async (signal) => {
      const cwd = temporaryRepository();
      await runCliProcess(["init", ...ANSWERS], { cwd, env: signalAtChange(signal, 1, cwd) });
      expect(readdirSync(join(cwd, ".sanddune")).sort()).toEqual(FILES);
      expect(addedTo(cwd)).toEqual([".sanddune"]);
    },
  );

  it("leaves no half of a scaffold to be seen wherever it is killed, and the next one tidies up", async () => {
    const cwd = temporaryRepository();
    const path = join(cwd, ".sanddune");
    const files = [".env.example", ".gitignore", "config.json", "main.mts", "prompt.md"];
    const flags = ["--yes", "--sandbox", "bubblewrap", "--template", "blank"];
    const initKilledAt = (change: number) =>
      runCliProcess(["init", ...flags], { cwd, env: signalAtChange("SIGKILL", change, cwd) });
    let kills = 0;
    for (let end = await initKilledAt(1); end.exitCode === null; end = await initKilledAt(kills + 1)) {
      kills++;
      const made = existsSync(path) ? readdirSync(path).sort() : files;
      expect(made).toEqual(files);
      rmSync(path, { recursive: true, force: true });
      expect(git(cwd, "status", "--porcelain")).toBe("");
    }
    // It was not killed any more: it makes no more changes than that.
    expect(kills).toBeGreaterThan(files.length);
    expect(readdirSync(path).sort()).toEqual(files);
    expect(addedTo(cwd)).toEqual([".sanddune"]);
  });

  it("leaves alone what only looks like something of its own", async () => {
    const cwd = temporaryRepository();
    const others = [`.sanddune.${process.pid}.0123456789ab`, ".sanddune.old", ".sanddune.1"];
    for (const name of others) mkdirSync(join(cwd, name));
    expect((await runCli(["init", ...ANSWERS], { cwd })).exitCode).toBe(0);
    expect(addedTo(cwd).sort()).toEqual([".sanddune", ...others].sort());
  });
});

it("makes nothing when the file system refuses in the middle", () => {
  const cwd = temporaryRepository();
  // A few small files can be written, but not the main file.
  const limited = 'ulimit -f 4; exec "$@"';
  const flags = ["--template", "parallel-planner", "--yes", "--no-build"];
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", limited, "sh", process.execPath, builtCli(), "init", ...flags],
    { cwd, encoding: "utf8" },
  );
  expect(stderr).toMatch(/error: The host's file system refused an operation .*\(EFBIG\)/);
  expect(status).toBe(1);
  expectUntouched(cwd);
  expect(addedTo(cwd)).toEqual([]);
});

it("keeps the scaffold when the image cannot be built, and says how to build it later", async () => {
  const cwd = temporaryRepository();
  // Everything that is needed but docker.
  const bin = temporaryDirectory();
  symlinkSync(spawnSync("which", ["git"], { encoding: "utf8" }).stdout.trim(), join(bin, "git"));
  const flags = ["--agent", "codex", "--sandbox", "docker", "--yes"];
  const { exitCode, stdout, stderr } = await runCli(["init", ...flags], { cwd, env: { PATH: bin } });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/error: .*docker/i);
  expect(stdout).toContain("npx sanddune docker build-image");
  expect(readdirSync(join(cwd, ".sanddune"))).toContain("Dockerfile");

  rmSync(join(cwd, ".sanddune"), { recursive: true });
  const forPrograms = await runCli(["init", "--json", ...flags], { cwd, env: { PATH: bin } });
  const { built, problem } = JSON.parse(forPrograms.stdout) as Result;
  expect({ built, exitCode: forPrograms.exitCode }).toEqual({ built: false, exitCode: 1 });
  expect(problem).toMatch(/docker/i);
});

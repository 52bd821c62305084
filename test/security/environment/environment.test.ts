import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { docker } from "../../../src/sandboxes/docker.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { describeInBoth, play, SANDBOXES, STRATEGIES, shell } from "../support.ts";

const original = { ...process.env };
const restoreEnvironment = (): void => {
  for (const key of Object.keys(process.env)) if (!(key in original)) delete process.env[key];
  Object.assign(process.env, original);
};
afterEach(restoreEnvironment);

const VALUE = "s3cr3t-value-of-the-host";
const SECRETS = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "SSH_AUTH_SOCK",
  "GITHUB_TOKEN",
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "NPM_TOKEN",
  "DATABASE_URL",
  "KUBECONFIG",
  "SOMETHING_NOBODY_KNOWS",
];

/** Prints all that the agent can see of environments, its own and those of every process around it. */
const LOOK_AROUND = shell(
  "{ env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; } > environment.txt",
);

const expectNothingSeen = async (sandbox: Parameters<typeof play>[2]): Promise<void> => {
  for (const key of SECRETS) process.env[key] = `${VALUE}-${key}`;
  const cwd = temporaryRepository();
  Object.assign(process.env, {
    GIT_SSH_COMMAND: VALUE,
    LD_PRELOAD: `/nonexistent/${VALUE}.so`,
    NODE_OPTIONS: `--title=${VALUE}`,
  });
  await play(cwd, [LOOK_AROUND, { commit: "Report" }], { branchStrategy: STRATEGIES.branch, ...sandbox });
  restoreEnvironment();
  const seen = git(cwd, "show", "agent/work:environment.txt");
  expect(seen).toContain("PATH=");
  expect(seen.split("\n").filter((line) => line.includes(VALUE))).toEqual([]);
};

describeWith(["bubblewrap"], "bubblewrap", () => {
  it("nothing of the host's environment reaches the sandbox", () =>
    expectNothingSeen({ sandbox: SANDBOXES.bubblewrap() }));

  it("the sandbox sees no file of the host but what it was given", async () => {
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, "secret"), VALUE);
    const cwd = temporaryRepository();
    const looks = [
      `cat ${secrets}/secret`,
      "cat /etc/shadow",
      `ls ${process.env["HOME"]}`,
      "ls /root",
      "ls /home",
      `ls ${join(cwd, "..")}`,
      `cat ${cwd}/.git/config`,
      "ls /var/run/docker.sock /run",
    ];
    await play(cwd, [shell(`{ ${looks.join("; ")}; } > seen.txt 2>/dev/null`), { commit: "Report" }], {
      branchStrategy: STRATEGIES.branch,
    });
    expect(git(cwd, "show", "agent/work:seen.txt")).toBe("");
  });
});

describeWith(["docker"], "docker", () => {
  it("nothing of the host's environment reaches a container", () =>
    expectNothingSeen({ sandbox: docker({ imageName: TEST_IMAGE }) }));
});

it("commands of an isolated test sandbox have an environment of their own", async () => {
  for (const key of SECRETS) process.env[key] = VALUE;
  const cwd = temporaryRepository();
  await play(cwd, [shell("env > environment.txt"), { commit: "Report" }], {
    branchStrategy: STRATEGIES.branch,
    sandbox: SANDBOXES.isolated(),
  });
  expect(git(cwd, "show", "agent/work:environment.txt")).not.toContain(VALUE);
});

describe("git on the host ignores what its environment says:", () => {
  const canaryProgram = () => {
    const directory = temporaryDirectory();
    const canary = join(directory, "canary");
    const program = join(directory, "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${canary}\ncat\n`);
    chmodSync(program, 0o755);
    return { directory, program, ran: () => existsSync(canary) };
  };

  it("GIT_CONFIG_*, GIT_EXTERNAL_DIFF, GIT_SSH, GIT_ASKPASS, GIT_EXEC_PATH, GIT_TRACE", async () => {
    const cwd = temporaryRepository();
    const { program, directory, ran } = canaryProgram();
    writeFileSync(
      join(directory, "config"),
      `[core]\n\tfsmonitor = ${program}\n[filter "x"]\n\tclean = ${program}\n`,
    );
    mkdirSync(join(directory, "exec"));
    Object.assign(process.env, {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: program,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${program}'`,
      GIT_CONFIG_GLOBAL: join(directory, "config"),
      GIT_CONFIG_SYSTEM: join(directory, "config"),
      GIT_EXTERNAL_DIFF: program,
      GIT_SSH: program,
      GIT_ASKPASS: program,
      GIT_EDITOR: program,
      GIT_EXEC_PATH: join(directory, "exec"),
      GIT_TRACE: join(directory, "trace"),
      GIT_TEMPLATE_DIR: directory,
    });
    const result = await play(
      cwd,
      [{ commit: "Work", files: { "work.txt": "w\n" } }, shell("echo open > open.txt")],
      { branchStrategy: STRATEGIES["merge-to-head"], sandbox: SANDBOXES.isolated() },
    );
    expect(result.commits).toHaveLength(1);
    expect(ran()).toBe(false);
    expect(existsSync(join(directory, "trace"))).toBe(false);
  });
});

describeInBoth("the repository of `cwd`", (name) => {
  it("is what is worked in, whatever the host's environment says about index and objects", async () => {
    const cwd = temporaryRepository();
    const other = temporaryRepository();
    Object.assign(process.env, {
      GIT_DIR: `${other}/.git`,
      GIT_COMMON_DIR: `${other}/.git`,
      GIT_WORK_TREE: temporaryDirectory(),
      GIT_INDEX_FILE: join(temporaryDirectory(), "index"),
      GIT_OBJECT_DIRECTORY: temporaryDirectory(),
      GIT_NAMESPACE: "elsewhere",
      GIT_CEILING_DIRECTORIES: "/",
      GIT_REPLACE_REF_BASE: "refs/elsewhere/",
      GIT_LITERAL_PATHSPECS: "1",
      GIT_PREFIX: "x/",
    });
    const result = await play(cwd, [{ commit: "Work", files: { "work.txt": "w\n" } }], {
      branchStrategy: STRATEGIES["merge-to-head"],
      sandbox: SANDBOXES[name](),
    });
    restoreEnvironment();
    expect(result.commits).toHaveLength(1);
    expect(git(cwd, "show", "main:work.txt")).toBe("w");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(other, "log", "--all", "--format=%s")).toBe("Initial commit");
  });
});

it("no git command of sanddune's writes to the user's global configuration", async () => {
  const home = temporaryDirectory();
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Home\n");
  const cwd = temporaryRepository();
  process.env["HOME"] = home;
  await play(cwd, [{ commit: "Work" }], {
    branchStrategy: STRATEGIES["merge-to-head"],
    sandbox: SANDBOXES.isolated(),
  });
  expect(git(home, "config", "--file", ".gitconfig", "--list")).toBe("user.name=Home");
});

describeInBoth("what the user's global ignore file hides", (name) => {
  it("is not committed by an agent", async () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, ".config/git"), { recursive: true });
    writeFileSync(join(home, ".config/git/ignore"), "*.secret\n");
    const cwd = temporaryRepository();
    process.env["HOME"] = home;
    delete process.env["XDG_CONFIG_HOME"];
    writeFileSync(join(cwd, "my.secret"), VALUE);
    const result = await play(cwd, [{ commit: "Everything", files: { "a.txt": "a\n" } }], {
      ...(name === "bubblewrap"
        ? {}
        : { branchStrategy: STRATEGIES["merge-to-head"], copyToWorktree: ["my.secret"] }),
      sandbox: SANDBOXES[name](),
    });
    expect(git(cwd, "ls-tree", "--name-only", result.branch).split("\n")).toEqual(["README.md", "a.txt"]);
  });
});

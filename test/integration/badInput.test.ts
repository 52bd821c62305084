import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  command,
  createBindMountSandboxProvider,
  PrerequisiteError,
  type RunOptions,
  run,
  type SandboxProvider,
  SandduneError,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../cli/fixtures.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";

const good = (cwd: string) => ({ agent: command("true"), sandbox: testIsolated(), prompt: "x", cwd });

const failureOf = (options: object): Promise<SandduneError> =>
  run(options as RunOptions).then(
    () => {
      throw new Error("the run was expected to fail");
    },
    (error) => error,
  );

const bind = (): SandboxProvider =>
  createBindMountSandboxProvider({
    name: "never",
    create: async () => {
      throw new Error("must not be created");
    },
  });

describe("before anything is created, a clear error says", () => {
  it.each<[string, object, RegExp]>([
    ["which option does not exist", { maxIteration: 3 }, /maxIteration.*no such option.*maxIterations/s],
    [
      "that prompt and promptFile exclude each other",
      { promptFile: "a.md" },
      /`prompt` and `promptFile` exclude/,
    ],
    ["that a prompt is needed", { prompt: undefined }, /pass `prompt`/],
    [
      "that the prompt file cannot be read",
      { prompt: undefined, promptFile: "/nowhere/x.md" },
      /\/nowhere\/x\.md/,
    ],
    ["that an agent is needed", { agent: undefined }, /agent.*must be an agent provider/],
    ["that a sandbox is needed", { sandbox: undefined }, /sandbox.*must be a sandbox provider/],
    [
      "that an unattended agent needs a sandbox",
      { sandbox: { type: "none", name: "no-sandbox" } },
      /interactive sessions only/,
    ],
    ["that cwd does not exist", { cwd: "/nowhere/at/all" }, /there is no directory/],
    ["that maxIterations counts", { maxIterations: 0 }, /maxIterations.*1 or more/],
    ["that a timeout is a time", { idleTimeoutSeconds: -1 }, /idleTimeoutSeconds.*above 0/],
    ["that an empty completion signal is none", { completionSignal: [""] }, /completionSignal.*non-empty/],
    ["that a signal must be one", { signal: {} }, /AbortSignal/],
    ["what nested options there are", { timeouts: { copyMs: 1 } }, /timeouts\.copyMs.*copyToWorktreeMs/s],
    [
      "which strategies there are",
      { branchStrategy: { type: "worktree" } },
      /"head", "merge-to-head" or "branch"/,
    ],
    ["that a branch needs a name", { branchStrategy: { type: "branch" } }, /needs the branch's name/],
    ["why a branch name is bad", { branchStrategy: { type: "branch", branch: "a..b" } }, /a\.\.b.*two dots/],
    [
      "that a starting point does not exist",
      { branchStrategy: { type: "branch", branch: "b", from: "nope" } },
      /no branch or commit "nope"/,
    ],
    [
      "that a branch is checked out elsewhere",
      { branchStrategy: { type: "branch", branch: "main" } },
      /main is in use by the checkout/,
    ],
    ["that head needs a bind mount", { branchStrategy: { type: "head" } }, /isolated sandbox cannot work/],
    [
      "that head has no worktree to copy into",
      { sandbox: bind(), branchStrategy: { type: "head" }, copyToWorktree: ["README.md"] },
      /no worktree to copy into/,
    ],
    [
      "that an item to copy does not exist",
      { copyToWorktree: ["nope"] },
      /copyToWorktree "nope": there is no/,
    ],
  ])("%s", async (_, wrong, message) => {
    const cwd = temporaryRepository();
    const error = await failureOf({ ...good(cwd), ...wrong });
    expect(error).toBeInstanceOf(SandduneError);
    expect(error.message).toMatch(message);
    expectUntouched(cwd);
  });

  it("that this is not a git repository", async () => {
    const cwd = temporaryDirectory();
    const error = await failureOf(good(cwd));
    expect(error.name).toBe("NotARepositoryError");
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it.each([
    ["bubblewrap", () => bubblewrap()],
    ["docker", () => docker({ image: "sanddune-no-such-image" })],
    ["podman", () => podman({ image: "sanddune-no-such-image" })],
  ])("that %s is not installed, and how to get it", async (name, sandbox) => {
    const cwd = temporaryRepository();
    const path = process.env["PATH"];
    const bin = temporaryDirectory();
    for (const program of ["git", "sh", "find"]) {
      symlinkSync(`/usr/bin/${program}`, join(bin, program));
    }
    process.env["PATH"] = bin;
    const error = await failureOf({ ...good(cwd), sandbox: sandbox() }).finally(() => {
      process.env["PATH"] = path;
    });
    expect(error).toMatchObject({ name: "SandboxUnavailableError", sandbox: name });
    expect(error.message).toMatch(/install/i);
    expectUntouched(cwd);
  });
});

describeWith(["docker"], "before anything is created, docker", () => {
  it("says that the image is missing, and how to make it", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf({ ...good(cwd), sandbox: docker({ image: "sanddune-no-such-image" }) });
    expect(error.name).toBe("SandboxUnavailableError");
    expect(error.message).toMatch(/sanddune-no-such-image.*docker (build|pull)/s);
    expectUntouched(cwd);
  });

  it("does not let an agent start whose files would not be the user's", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf({
      ...good(cwd),
      agent: command("touch started"),
      sandbox: docker({ image: TEST_IMAGE, user: "4321:4321" }),
      branchStrategy: { type: "branch", branch: "b" },
    });
    expect(error).toMatchObject({
      name: "SandboxUserMismatchError",
      actualUid: 4321,
      expectedUid: process.getuid?.(),
    });
    expect(error.message).toMatch(/run as your own user/);
    expect(git(cwd, "branch", "--list", "b")).toBe("");
    expect(existsSync(join(cwd, ".sanddune/worktrees/started"))).toBe(false);
  });
});

describe("git itself is checked on first use", () => {
  const path = process.env["PATH"];
  afterEach(() => {
    process.env["PATH"] = path;
  });

  it("is missing: the error says so, and what to install", async () => {
    const cwd = temporaryRepository();
    process.env["PATH"] = temporaryDirectory();
    const error = await failureOf(good(cwd));
    process.env["PATH"] = path;
    expect(error).toBeInstanceOf(PrerequisiteError);
    expect(error.message).toMatch(/git.*not installed.*Install git/s);
    expectUntouched(cwd);
  });
});

it("a directory of the branch that does not exist is told before the agent starts", async () => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "without");
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  writeFileSync(join(cwd, "packages/a/file"), "");
  git(cwd, "add", ".");
  git(cwd, "commit", "-qm", "Add a package");
  const error = await failureOf({
    ...good(join(cwd, "packages/a")),
    sandbox: testIsolated(),
    branchStrategy: { type: "branch", branch: "old", from: "without" },
  });
  expect(error.message).toContain("The branch has no directory packages/a");
});

it("a git that is too old is refused by its version", async () => {
  const cwd = temporaryRepository();
  const bin = temporaryDirectory();
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh\ncase " $* " in *" version "*) echo git version 2.25.1;; *) exec /usr/bin/git "$@";; esac\n`,
  );
  chmodSync(join(bin, "git"), 0o755);
  const { execFileSync } = await import("node:child_process");
  const script = `
    import { run, command } from ${JSON.stringify(join(import.meta.dirname, "../../dist/index.js"))};
    import { testIsolated } from ${JSON.stringify(join(import.meta.dirname, "../../dist/sandboxes/test-isolated.js"))};
    await run({ agent: command("true"), sandbox: testIsolated(), prompt: "x", cwd: ${JSON.stringify(cwd)} }).catch((error) => console.log(error.name, error.message));`;
  const { builtCli } = await import("../helpers/built.ts");
  builtCli();
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
  });
  expect(printed).toMatch(/PrerequisiteError.*2\.25\.1 is too old.*2\.38/);
});

describe("a sandbox provider of somebody else's that throws", () => {
  const throwing = (where: "create" | "exec"): SandboxProvider =>
    createBindMountSandboxProvider({
      name: "theirs",
      create: async ({ sandboxName, worktreePath }) => {
        if (where === "create") throw new TypeError("their bug");
        return {
          name: sandboxName,
          worktreePath,
          exec: () => {
            throw new TypeError("their bug");
          },
          copyFileIn: async () => {},
          copyFileOut: async () => {},
          close: async () => {
            throw new TypeError("another bug");
          },
        };
      },
    });

  it.each(["create", "exec"] as const)("in %s is named, and nothing is left behind", async (where) => {
    const cwd = temporaryRepository();
    const error = await failureOf({
      ...good(cwd),
      sandbox: throwing(where),
      branchStrategy: { type: "branch", branch: "b" },
    });
    expect(error).toMatchObject({ name: "SandboxError", sandbox: "theirs" });
    expect(error.message).toContain("their bug");
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "branch", "--list", "b")).toBe("");
  });
});

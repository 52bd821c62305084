import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  command,
  createBindMountSandboxProvider,
  createSandbox,
  createWorktree,
  InvalidBranchNameError,
  InvalidOptionsError,
  interactive,
  PrerequisiteError,
  type RunOptions,
  run,
  type SandboxProvider,
  SandduneError,
  TerminalError,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../../cli/fixtures.ts";
import { builtCli } from "../../helpers/built.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

const good = (cwd: string) => ({ agent: command("true"), sandbox: testIsolated(), prompt: "x", cwd });

const reasonOf = (result: Promise<unknown>): Promise<SandduneError> =>
  result.then(
    () => {
      throw new Error("was expected to fail");
    },
    (error) => error,
  );

const failureOf = (options: object): Promise<SandduneError> => reasonOf(run(options as RunOptions));

/** One that must not be asked for anything. */
const never = createBindMountSandboxProvider({
  name: "never",
  create: async () => {
    throw new Error("must not be created");
  },
});

const path = process.env["PATH"];
afterEach(() => {
  process.env["PATH"] = path;
});

describe("before anything is created, a clear error says", () => {
  it.each<[string, object, RegExp]>([
    ["which option does not exist", { maxIteration: 3 }, /maxIteration.*no such option.*maxIterations/s],
    ["that the prompt is empty", { prompt: " \n" }, /prompt.*must be a non-empty string/],
    [
      "that the prompt file cannot be read",
      { prompt: undefined, promptFile: "/nowhere/x.md" },
      /\/nowhere\/x\.md/,
    ],
    ["that cwd does not exist", { cwd: "/nowhere/at/all" }, /there is no directory/],
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
      { sandbox: never, branchStrategy: { type: "head" }, copyToWorktree: ["README.md"] },
      /there is no worktree: the agent works in your checkout/,
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

  it("that the prompt file is empty", async () => {
    const cwd = temporaryRepository();
    const promptFile = join(temporaryDirectory(), "prompt.md");
    writeFileSync(promptFile, "\n");
    const error = await failureOf({ ...good(cwd), prompt: undefined, promptFile });
    expect(error).toMatchObject({ name: "InvalidOptionsError", option: "promptFile" });
    expectUntouched(cwd);
  });

  it.each([
    ["bubblewrap", () => bubblewrap()],
    ["docker", () => docker({ imageName: "sanddune-no-such-image" })],
    ["podman", () => podman({ imageName: "sanddune-no-such-image" })],
  ])("that %s is not installed, and how to get it", async (name, sandbox) => {
    const cwd = temporaryRepository();
    const bin = temporaryDirectory();
    for (const program of ["git", "sh", "find"]) {
      symlinkSync(`/usr/bin/${program}`, join(bin, program));
    }
    process.env["PATH"] = bin;
    const error = await failureOf({ ...good(cwd), sandbox: sandbox() });
    process.env["PATH"] = path;
    expect(error).toMatchObject({ name: "SandboxUnavailableError", sandbox: name });
    expect(error.message).toMatch(/install/i);
    expectUntouched(cwd);
  });
});

describeWith(["docker"], "before anything is created, docker", () => {
  it("says that the image is missing, and how to make it", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf({ ...good(cwd), sandbox: docker({ imageName: "sanddune-no-such-image" }) });
    expect(error.name).toBe("SandboxUnavailableError");
    expect(error.message).toMatch(/sanddune-no-such-image.*docker (build|pull)/s);
    expectUntouched(cwd);
  });

  it("does not let an agent start whose files would not be the user's", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf({
      ...good(cwd),
      agent: command("touch started"),
      sandbox: docker({ imageName: TEST_IMAGE, user: "4321:4321" }),
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
  it("is missing: the error says so, and what to install", async () => {
    const cwd = temporaryRepository();
    process.env["PATH"] = temporaryDirectory();
    const error = await failureOf(good(cwd));
    process.env["PATH"] = path;
    expect(error).toBeInstanceOf(PrerequisiteError);
    expect(error.message).toMatch(/git.*not installed.*Install git/s);
    expectUntouched(cwd);
  });

  it("is too old: it is refused by its version", async () => {
    const cwd = temporaryRepository();
    const bin = temporaryDirectory();
    writeFileSync(
      join(bin, "git"),
      // Git's own trace says its version.
      `#!/bin/sh\n{ /usr/bin/git "$@" 2>&1 >&3 | sed 's/"exe":"[^"]*"/"exe":"2.25.1"/' >&2; } 3>&1\n`,
    );
    chmodSync(join(bin, "git"), 0o755);
    // A process asks git for its version once.
    const dist = dirname(builtCli());
    const script = `
      import { run, command } from ${JSON.stringify(join(dist, "index.js"))};
      import { testIsolated } from ${JSON.stringify(join(dist, "sandboxes/test-isolated.js"))};
      await run({ agent: command("true"), sandbox: testIsolated(), prompt: "x", cwd: ${JSON.stringify(cwd)} })
        .catch((error) => console.log(error.name, error.message));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${bin}:${path}` },
    });
    expect(printed).toMatch(/PrerequisiteError.*2\.25\.1 is too old.*2\.38/);
    expectUntouched(cwd);
  });
});

it("a directory of the branch that does not exist is reported before the agent starts", async () => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "without");
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  writeFileSync(join(cwd, "packages/a/file"), "");
  git(cwd, "add", ".");
  git(cwd, "commit", "-qm", "Add a package");
  const error = await failureOf({
    ...good(join(cwd, "packages/a")),
    branchStrategy: { type: "branch", branch: "old", from: "without" },
  });
  expect(error.message).toContain("The branch has no directory packages/a");
});

describe("a sandbox provider of another author that throws", () => {
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

/** Any function, as plain JavaScript would call it. */
type Call = (...args: unknown[]) => Promise<unknown>;

const agent = command("touch started", { interactive: "touch started" });
const ENTRY_POINTS: Readonly<Record<string, readonly [call: Call, good: object]>> = {
  "createSandbox()": [createSandbox as Call, { branch: "b", sandbox: never }],
  "createWorktree()": [createWorktree as Call, { branchStrategy: { type: "branch", branch: "b" } }],
  "interactive()": [interactive as Call, { agent, sandbox: never }],
};

describe.each(Object.entries(ENTRY_POINTS))(
  "%s, before anything is created,",
  (entryPoint, [call, options]) => {
    it("refuses what is wrong, and names the option", async () => {
      const cwd = temporaryRepository();
      expect(await reasonOf(call())).toMatchObject({ name: "InvalidOptionsError", option: "options" });
      const error = await reasonOf(call({ cwd, ...options, branhc: "b" }));
      expect(error).toBeInstanceOf(InvalidOptionsError);
      expect(error).toMatchObject({ option: "branhc" });
      expectUntouched(cwd);
    });

    it("says the reason of a signal that is aborted already, whatever else is wrong", async () => {
      const reason = { why: "too late" };
      expect(await reasonOf(call({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    });

    if (entryPoint === "interactive()") {
      it("refuses a session without a terminal", async () => {
        const cwd = temporaryRepository();
        expect(await reasonOf(call({ cwd, ...options }))).toBeInstanceOf(TerminalError);
        expectUntouched(cwd);
      });
    } else {
      it("refuses a directory that does not exist, and branch names that git would take for something else", async () => {
        const cwd = temporaryRepository();
        const elsewhere = await reasonOf(call({ ...options, cwd: "/nowhere/at/all" }));
        expect(elsewhere).toMatchObject({ name: "InvalidOptionsError", option: "cwd" });
        for (const branch of ["--upload-pack=touch canary", "HEAD"]) {
          const named = { branch, sandbox: never };
          const wrong =
            entryPoint === "createSandbox()" ? named : { branchStrategy: { type: "branch", branch } };
          const error = await reasonOf(call({ cwd, ...wrong }));
          expect(error).toBeInstanceOf(InvalidBranchNameError);
          expect(error).toMatchObject({ branch });
        }
        expectUntouched(cwd);
      });
    }
  },
);

it("createSandbox() refuses an env var with an impossible name, and makes nothing", async () => {
  const cwd = temporaryRepository();
  const options = { cwd, branch: "b", sandbox: testIsolated(), env: { "a-b": "c" } };
  expect(await reasonOf(createSandbox(options))).toMatchObject({
    name: "InvalidOptionsError",
    option: "env",
  });
  expectUntouched(cwd);
});

describe("a call on a handle with the wrong options", () => {
  /** Everything that a call could have made on the host. */
  const traces = (cwd: string) => ({
    refs: git(cwd, "for-each-ref"),
    worktrees: git(cwd, "worktree", "list"),
    ...Object.fromEntries(
      [".sanddune/runs", ".sanddune/logs", ".git/sanddune/locks"].map((name) => [
        name,
        readdirSync(join(cwd, name)),
      ]),
    ),
  });

  const expectRefused = async (cwd: string, calls: readonly [Call, unknown[], string][]) => {
    const before = traces(cwd);
    for (const [call, args, option] of calls) {
      expect(await reasonOf(call(...args))).toMatchObject({ name: "InvalidOptionsError", option });
    }
    expect(traces(cwd)).toEqual(before);
  };

  it("of a sandbox names the option, makes nothing, and the sandbox continues", async () => {
    const cwd = temporaryRepository();
    const handle = await createSandbox({ cwd, branch: "b", sandbox: testIsolated() });
    await expectRefused(cwd, [
      [handle.run as Call, [], "options"],
      [handle.run as Call, [{ agent, prompt: "" }], "prompt"],
      [handle.interactive as Call, [{ agent, prompt: "" }], "prompt"],
      [handle.run as Call, [{ agent, prompt: "x", hooks: {} }], "hooks"],
      // It has no environment.
      [handle.run as Call, [{ agent, prompt: "x", until: "tests-pass" }], "until"],
      [handle.exec as Call, [], "command"],
      [handle.exec as Call, ["id", { sudo: true }], "sudo"],
      [handle.interactive as Call, [{ agent, maxIterations: 2 }], "maxIterations"],
    ]);
    expect(await reasonOf(handle.interactive({ agent }))).toBeInstanceOf(TerminalError);
    expect((await handle.exec("ls")).stdout).toBe("README.md\n");
    expect(await handle.close()).toEqual({ commits: [], warnings: [] });
  });

  it("of a worktree names the option, makes nothing, and the worktree continues", async () => {
    const cwd = temporaryRepository();
    const handle = await createWorktree({ cwd, branchStrategy: { type: "branch", branch: "b" } });
    await expectRefused(cwd, [
      [handle.run as Call, [], "options"],
      [handle.run as Call, [{ agent, sandbox: never, prompt: "" }], "prompt"],
      [handle.run as Call, [{ ...good("/"), cwd: "/" }], "cwd"],
      [handle.interactive as Call, [{ agent, logging: { type: "file" } }], "logging"],
      [handle.createSandbox as Call, [{ sandbox: never, branch: "c" }], "branch"],
    ]);
    expect(await reasonOf(handle.interactive({ agent }))).toBeInstanceOf(TerminalError);
    expect(readdirSync(handle.worktreePath).sort()).toEqual([".git", "README.md"]);
    expect(await handle.close()).toEqual({ commits: [], warnings: [] });
  });
});

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type IsolatedSandboxProvider,
  type RunOptions,
  run,
  type SandduneError,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const runsOf = (cwd: string): string[] => {
  const path = join(cwd, ".sanddune/runs");
  return existsSync(path) ? readdirSync(path).filter((name) => name !== ".gitignore") : [];
};

/** Starts a run whose agent waits for a file before it commits, and lets the host change meanwhile. */
const meanwhile = async (
  cwd: string,
  overrides: Partial<RunOptions>,
  change: () => void,
): Promise<SandduneError> => {
  const go = join(temporaryDirectory(), "go");
  const steps: ScriptedStep[] = [
    { shell: `while [ ! -e '${go}' ]; do sleep 0.02; done` },
    { commit: "By the agent", files: { "agent.txt": "1\n" } },
  ];
  const running = run({
    agent: scripted(steps),
    sandbox: testIsolated(),
    cwd,
    prompt: "x",
    ...overrides,
  } as RunOptions).then(
    () => {
      throw new Error("the run was expected to fail");
    },
    (error) => error,
  );
  await waitFor(() => runsOf(cwd).length > 0);
  change();
  writeFileSync(go, "");
  return running;
};

describe("while the agent works with a detached HEAD", () => {
  it("a branch that the user switches to is not merged into", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    const error = await meanwhile(cwd, { branchStrategy: { type: "merge-to-head" } }, () =>
      git(cwd, "switch", "--quiet", "-c", "mine"),
    );
    expect(error.name).toBe("BranchMovedError");
    expect(git(cwd, "log", "-1", "--format=%s", "mine")).toBe("Initial commit");
    expect(git(cwd, "log", "-1", "--format=%s", error.branch as string)).toBe("By the agent");
    expect(git(cwd, "symbolic-ref", "--short", "HEAD")).toBe("mine");
  });
});

describe("while the user rebases the target branch", () => {
  it("it is not moved, and the commits are kept", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "README.md"), "one\n");
    git(cwd, "commit", "-qam", "One");
    git(cwd, "switch", "-qc", "other", "HEAD^");
    writeFileSync(join(cwd, "README.md"), "two\n");
    git(cwd, "commit", "-qam", "Two");
    git(cwd, "switch", "-q", "main");
    const before = git(cwd, "rev-parse", "main");
    const error = await meanwhile(cwd, { branchStrategy: { type: "merge-to-head" } }, () => {
      expect(() => git(cwd, "rebase", "other")).toThrow();
    });
    expect(error.name).toBe("CheckoutInTheWayError");
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    expect(git(cwd, "log", "-1", "--format=%s", error.branch as string)).toBe("By the agent");
  });
});

describeWith(["bubblewrap"], "while another agent works in the checkout", () => {
  it("a merge into its branch does not wait: it fails, names the owner, and keeps its commits", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const working = run({
      agent: scripted([{ sleepMs: 600_000 }]),
      sandbox: bubblewrap(),
      cwd,
      prompt: "x",
      signal: controller.signal,
    }).catch(() => "aborted");
    await waitFor(
      () =>
        existsSync(join(cwd, ".git/sanddune/locks")) &&
        readdirSync(join(cwd, ".git/sanddune/locks")).length > 0,
    );
    const error = await run({
      agent: scripted([{ commit: "Work", files: { a: "1" } }]),
      sandbox: testIsolated(),
      cwd,
      prompt: "x",
    }).catch((reason) => reason);
    expect(error.name).toBe("CheckoutInTheWayError");
    expect(error.problem).toMatch(/in use by run .* on branch main/);
    expect(git(cwd, "log", "-1", "--format=%s", error.branch)).toBe("Work");
    expect(git(cwd, "log", "-1", "--format=%s", "main")).toBe("Initial commit");
    controller.abort();
    expect(await working).toBe("aborted");
  });
});

it("a sandbox that cannot be closed is a warning that says what is left, and no failure", async () => {
  const cwd = temporaryRepository();
  const inner = testIsolated();
  const sandbox: IsolatedSandboxProvider = {
    ...inner,
    name: "sticky",
    create: async (options) => {
      const handle = await inner.create(options);
      return {
        ...handle,
        close: async () => {
          await handle.close();
          throw new Error("box 7 is still there. Try: box rm 7");
        },
      };
    },
  };
  const result = await run({ agent: scripted([{ commit: "Work" }]), sandbox, cwd, prompt: "x" });
  expect(result.commits).toHaveLength(1);
  expect(result.warnings.join()).toContain("Try: box rm 7");
});

describe("a run that fails", () => {
  it("carries its warnings, and the paths to look at", async () => {
    const cwd = temporaryRepository();
    const error = (await run({
      agent: scripted([
        { commit: "Work", files: { ".envrc": "export A=1\n" } },
        {
          shell: "git checkout -q -b elsewhere && git commit -q --allow-empty -m Stray && git checkout -q -",
        },
        { exit: 1 },
      ]),
      sandbox: testIsolated(),
      cwd,
      prompt: "x",
      branchStrategy: { type: "branch", branch: "b" },
    }).catch((reason) => reason)) as SandduneError;
    expect(error.protectedPaths).toEqual([".envrc"]);
    expect(error.warnings).toEqual([expect.stringContaining('also committed to "elsewhere"')]);
    const ref = /refs\/sanddune\/[^\s.]+/.exec(error.warnings?.[0] ?? "")?.[0] as string;
    expect(git(cwd, "log", "-1", "--format=%s", ref)).toBe("Stray");
  });

  it("before it begins, because a tool directory does not exist, says which", async () => {
    const cwd = temporaryRepository();
    const sandbox = bubblewrap({ readOnlyPaths: ["/no/such/tools"] });
    const error = await run({ agent: scripted([]), sandbox, cwd, prompt: "x" }).catch((reason) => reason);
    expect(error).toMatchObject({ name: "InvalidOptionsError", option: "readOnlyPaths" });
    expect(error.message).toContain("/no/such/tools");
  });
});

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  command,
  createSandbox,
  createStandaloneSandbox,
  run,
  SandboxLostError,
  scripted,
} from "../../../src/index.ts";
import { CLOUDS, type CloudService } from "../../helpers/cloud/clouds.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const LARGE = 3 * 1024 * 1024;
/** A third of it is there for the work to be brought home, when the plan gives no more. */
const LEASE_MS = 4000;
const DAY_MS = 24 * 60 * 60_000;
const BRANCH = { type: "branch", branch: "agent/work" } as const;

const listening = (onAgentStreamEvent: () => void) =>
  ({ type: "file", quiet: true, onAgentStreamEvent }) as const;

const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

describe.each(CLOUDS)("run() with the $name sandbox", { timeout: 120_000 }, ({ provider, use, requests }) => {
  const cloud = use();

  it("hands the prompt to the agent on its standard input, and imports its commits, merges and all; continues over broken connections", async () => {
    const cwd = temporaryRepository();
    const { loopback, count } = cloud();
    const breaking = setInterval(() => loopback.breakStreams(), 250);
    onTestFinished(() => clearInterval(breaking));
    const agent = command(`cat >prompt.txt; git add . && git commit -qm 'Keep the prompt'
git checkout -q -b side && git commit -q --allow-empty -m Side
git checkout -q - && git commit -q --allow-empty -m Main && git merge -q --no-edit side
git branch -q -D side
for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done
git commit -q --allow-empty -m End; git rev-parse HEAD`);
    const prompt = `Do {{NOT_A_KEY}} $(this) ${"long ".repeat(50_000)}end`;
    const result = await run({ agent, sandbox: provider(), branchStrategy: BRANCH, cwd, prompt });

    expect(result.stdout).toBe(`1\n2\n3\n4\n5\n6\n${git(cwd, "rev-parse", "agent/work")}\n`);
    expect(git(cwd, "show", "agent/work:prompt.txt") === prompt).toBe(true);
    expect(git(cwd, "log", "--merges", "--format=%s", "agent/work")).toMatch(/Merge branch/);
    expect(result.commits).toHaveLength(5);
    expect(count()).toBe(0);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("ends the agent before the plan ends the sandbox, and imports what it has done, in a worktree what it has not committed", async () => {
    const cwd = temporaryRepository();
    cloud().allow(DAY_MS);
    onTestFinished(() => cloud().allow(Number.POSITIVE_INFINITY));
    const begunAt = Date.now();
    const agent = scripted([
      { commit: "Half of it", files: { "half.txt": "1" } },
      { shell: "echo rest >rest.txt" },
      { text: "Now it may end" },
      { sleepMs: 600_000 },
    ]);
    const error = await failureOf(
      run({
        ...{ agent, sandbox: provider({ leaseMs: LEASE_MS }), branchStrategy: BRANCH, cwd, prompt: "Work" },
        logging: {
          ...{ type: "file", quiet: true },
          onAgentStreamEvent: ({ type }) => {
            if (type === "text") cloud().allow(Date.now() - begunAt + LEASE_MS / 2);
          },
        },
      }),
    );

    expect(error).toMatchObject({ name: "SandboxError", branch: "agent/work" });
    expect(error.message).toMatch(
      /its lifetime of \d+ seconds was not extended.*if your plan does not allow more, upgrade it/,
    );
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("Half of it");
    expect(readFileSync(join(error.preservedWorktreePath, "rest.txt"), "utf8")).toBe("rest\n");
    expect(cloud().count()).toBe(0);
  });

  it("refuses a terminal before anything is created", async () => {
    const { loopback } = cloud();
    const before = loopback.count(requests.create);
    const making = createStandaloneSandbox(provider(), { needs: { terminal: true } });
    expect(await failureOf(making)).toMatchObject({
      name: "SandboxUnavailableError",
      problem: expect.stringContaining("does not support a terminal"),
    });
    expect(loopback.count(requests.create)).toBe(before);
  });
});

/** What the services have in common. */
const [{ provider, use, requests }] = CLOUDS as [CloudService];

describe("run() with the sandbox of a service", { timeout: 120_000 }, () => {
  const cloud = use();

  it("ends as lost, never as done, when the sandbox goes while the agent works", async () => {
    const cwd = temporaryRepository();
    let ending: Promise<void> | undefined;
    const agent = command("git commit -q --allow-empty -m Lost; echo working; sleep 1000");
    const error = await failureOf(
      run({
        ...{ agent, sandbox: provider(), branchStrategy: BRANCH, cwd, prompt: "Work" },
        logging: listening(() => {
          ending ??= cloud().lose();
        }),
      }),
    );
    await ending;
    expect(error).toBeInstanceOf(SandboxLostError);
    expect(cloud().count()).toBe(0);
  });

  it("is aborted with the identical reason, and leaves no sandbox", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Error("enough");
    const { loopback, count } = cloud();
    const before = loopback.count(requests.create);
    const agent = command("git commit -q --allow-empty -m Kept; echo working; sleep 1000");
    const attempt = run({
      ...{ agent, sandbox: provider(), branchStrategy: BRANCH, cwd, prompt: "Work" },
      signal: controller.signal,
      logging: listening(() => controller.abort(reason)),
    });
    expect(await failureOf(attempt)).toBe(reason);
    expect(loopback.count(requests.create)).toBe(before + 1);
    expect(count()).toBe(0);
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("Kept");
  });

  it("keeps a lasting sandbox from run to run, with uncommitted work and installed files, and sends only what is new", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "large.bin"), randomBytes(LARGE));
    git(cwd, "add", ".");
    git(cwd, "commit", "-qm", "Add something large");
    const { received, sent } = cloud().loopback.bytes;
    const sandbox = await createSandbox({ branch: "agent/work", sandbox: provider(), cwd });
    onTestFinished(async () => void (await sandbox.close()));
    await sandbox.run({ agent: command("echo cache >~/cache; echo half >half.txt"), prompt: "One" });
    const second = await sandbox.run({
      agent: command("cat ~/cache half.txt; git add half.txt; git commit -qm Whole"),
      prompt: "Two",
    });
    expect(second.stdout).toBe("cache\nhalf\n");
    expect(git(cwd, "show", "agent/work:half.txt")).toBe("half");
    expect(cloud().loopback.bytes.received - received).toBeLessThan(1.5 * LARGE);
    expect(cloud().loopback.bytes.sent - sent).toBeLessThan(0.5 * LARGE);
    await sandbox.close();
    expect(cloud().count()).toBe(0);
    expect(existsSync(sandbox.worktreePath)).toBe(false);
  });
});

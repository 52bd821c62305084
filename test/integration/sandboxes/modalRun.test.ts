import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentStreamEvent,
  command,
  createSandbox,
  type RunOptions,
  run,
  scripted,
} from "../../../src/index.ts";
import { type ModalOptions, modal } from "../../../src/sandboxes/modal.ts";
import type { ModalServer, ServedSandbox } from "../../helpers/cloud/modalServer.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { modalServer, sharedModalServer } from "../../sandboxes/modal/scene.ts";

const runAtModal = (
  cwd: string,
  options: Partial<RunOptions> & Pick<RunOptions, "agent">,
  settings: ModalOptions = {},
) =>
  run({
    sandbox: modal(settings),
    cwd,
    prompt: "Work",
    branchStrategy: { type: "branch", branch: "agent/work" },
    ...options,
  } as RunOptions);

const failureOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => {
      throw new Error("it was a success");
    },
    (reason) => reason,
  );

const theOnlyRunning = (server: ModalServer): ServedSandbox => {
  const [sandbox, ...others] = server.running();
  expect(others).toEqual([]);
  return sandbox as ServedSandbox;
};

const MEGABYTE = "head -c 1000000 /dev/urandom";

describe("run() at Modal", () => {
  const server = sharedModalServer();

  it("puts the agent's commits on a branch, with the very SHAs, and leaves nothing running", async () => {
    const cwd = temporaryRepository();
    const agent = scripted([
      { commit: "Add a greeting", files: { "src/hello.txt": "hello\n" } },
      { shell: "git checkout -qb side HEAD~1 && git commit -qm Side --allow-empty && git rev-parse HEAD" },
      {
        shell:
          "git checkout -q agent/work && git merge -q --no-edit side && git branch -qd side && git rev-parse HEAD >../head",
      },
      { shell: "cat ../head" },
      { text: "<promise>COMPLETE</promise>" },
    ]);
    const result = await runAtModal(cwd, { agent });

    expect(result.branch).toBe("agent/work");
    expect(git(cwd, "show", "agent/work:src/hello.txt")).toBe("hello");
    expect(git(cwd, "log", "--merges", "--format=%s", "agent/work")).toBe(
      "Merge branch 'side' into agent/work",
    );
    expect(readFileSync(result.logFilePath as string, "utf8")).toContain(git(cwd, "rev-parse", "agent/work"));
    expect(git(cwd, "log", "-1", "--format=%an <%ae>", "agent/work")).toBe("Dev <dev@example.com>");
    expect(leftovers(cwd)).toEqual([]);
    expect(server().sandboxes).toHaveLength(1);
    expect(server().running()).toEqual([]);
  });

  it("copies in what is not committed, and copies back what a failing agent had not committed", async () => {
    const cwd = temporaryRepository();
    const agent = scripted([
      { commit: "Half of it", files: { "half.txt": "1" } },
      { shell: "echo rest >rest.txt; rm README.md" },
      { exit: 3 },
    ]);
    const error = await failureOf(runAtModal(cwd, { agent }));
    expect(error).toMatchObject({ name: "AgentFailedError", exitCode: 3, branch: "agent/work" });
    expect(error.commits).toEqual([expect.objectContaining({ sha: git(cwd, "rev-parse", "agent/work") })]);
    expect(git(error.preservedWorktreePath, "status", "--porcelain")).toBe(" D README.md\n?? rest.txt");
    expect(server().running()).toEqual([]);

    const goesOn = scripted([{ shell: "cat rest.txt && ! test -e README.md" }, { text: "Saw it." }]);
    expect(await runAtModal(cwd, { agent: goesOn })).toMatchObject({ stdout: "Saw it.\n" });
  });

  it("imports only what is new after a second iteration", async () => {
    const cwd = temporaryRepository();
    await using sandbox = await createSandbox({ cwd, branch: "agent/work", sandbox: modal() });
    const commits = (file: string, content: string) =>
      command(`cat >/dev/null; ${content} >${file}; git add .; git commit -qm ${file}`);
    await sandbox.run({ agent: commits("large", MEGABYTE), prompt: "Work" });
    const afterFirst = server().bytesSent();
    expect(afterFirst).toBeGreaterThan(1_000_000);
    await sandbox.run({ agent: commits("small", "echo small"), prompt: "Work" });
    expect(server().bytesSent() - afterFirst).toBeLessThan(100_000);
    expect(git(cwd, "log", "--reverse", "--format=%s", "main..agent/work")).toBe("large\nsmall");
  });

  it("is a lost sandbox, and no success, when Modal ends the sandbox under the agent", async () => {
    const cwd = temporaryRepository();
    const agent = command("cat >/dev/null; echo working; sleep 1000");
    const attempt = runAtModal(cwd, {
      agent,
      logging: {
        type: "file",
        onAgentStreamEvent: () => void server().end(theOnlyRunning(server()), "crashed"),
      },
    });
    const error = await failureOf(attempt);
    expect(error).toMatchObject({ name: "SandboxLostError", commits: [] });
    expect(error.message).toContain("its own process ended with exit code 1");
    expect(git(cwd, "rev-parse", "agent/work")).toBe(git(cwd, "rev-parse", "main"));
  });

  it("stops the agent on abort with the identical reason, and imports what it had committed", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Error("enough");
    const agent = scripted([
      { commit: "Half of it", files: { "half.txt": "1" } },
      { text: "Now." },
      { shell: "sleep 1000" },
    ]);
    const onAgentStreamEvent = (event: AgentStreamEvent) => {
      if (event.type === "text") controller.abort(reason);
    };
    const attempt = runAtModal(cwd, {
      agent,
      signal: controller.signal,
      logging: { type: "file", onAgentStreamEvent },
    });
    expect(await failureOf(attempt)).toBe(reason);
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("Half of it");
    expect(server().running()).toEqual([]);
  });

  it("ends the agent shortly before its lifetime is over, while its commits can still be imported", async () => {
    await modalServer({ enforcesDeadlines: false });
    const cwd = temporaryRepository();
    const agent = scripted([
      { commit: "Half of it", files: { "half.txt": "1" } },
      { shell: "echo rest >rest.txt; sleep 1000" },
    ]);
    const error = await failureOf(runAtModal(cwd, { agent }, { lifetimeMs: 12_000 }));
    expect(error).toMatchObject({ name: "SandboxError", branch: "agent/work" });
    expect(error.message).toMatch(/its lifetime of 12 seconds is nearly over.*modal\(\{ lifetimeMs/);
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("Half of it");
    expect(readFileSync(join(error.preservedWorktreePath, "rest.txt"), "utf8")).toBe("rest\n");
  });
});

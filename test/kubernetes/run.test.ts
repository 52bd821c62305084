import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, createSandbox, run, scripted } from "../../src/index.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { leftovers } from "../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster, failureOf, IMAGE, kubectl } from "./cluster.ts";

const podsOf = async (cwd: string): Promise<string[]> => {
  const format = 'jsonpath={range .items[*]}{.metadata.annotations.sanddune\\.dev/repository}{"\\n"}{end}';
  const repositories = await kubectl("get", "pods", "--output", format);
  return repositories.split("\n").filter((repository) => repository === cwd);
};

describeWithCluster("run() in a cluster", () => {
  it("puts the agent's commits on a named branch and leaves nothing behind, here or there", async () => {
    const cwd = temporaryRepository();
    const result = await run({
      agent: scripted([
        { shell: "cat README.md" },
        { commit: "Add a greeting", files: { "src/hello.txt": "hello\n" } },
        { commit: "Improve it", files: { "src/hello.txt": "hello, world\n" } },
        { text: "<promise>COMPLETE</promise>" },
      ]),
      sandbox: kubernetes({ imageName: IMAGE }),
      branchStrategy: { type: "branch", branch: "agent/fix-42" },
      prompt: "Add a greeting",
      cwd,
    });
    expect(result.warnings).toEqual([]);
    expect(result.commits.map(({ sha }) => sha)).toEqual(
      git(cwd, "rev-list", "--reverse", "main..agent/fix-42").split("\n"),
    );
    expect(git(cwd, "log", "--format=%s %an", "main..agent/fix-42")).toBe(
      "Improve it Dev\nAdd a greeting Dev",
    );
    expect(git(cwd, "show", "agent/fix-42:src/hello.txt")).toBe("hello, world");
    expect(leftovers(cwd)).toEqual([]);
    expect(await podsOf(cwd)).toEqual([]);
  });

  it("merges by default, with the prompt on the agent's standard input", async () => {
    const cwd = temporaryRepository();
    const prompt = `A prompt of ${"many ".repeat(50_000)}words`;
    await run({
      agent: command("cat >prompt.txt; git add .; git commit -qm 'Write it down'"),
      sandbox: kubernetes({ imageName: IMAGE }),
      prompt,
      cwd,
    });
    expect(readFileSync(join(cwd, "prompt.txt"), "utf8")).toBe(prompt);
    expect(git(cwd, "log", "--format=%s")).toBe("Write it down\nInitial commit");
  });

  it("imports commits and uncommitted work of a failing agent", async () => {
    const cwd = temporaryRepository();
    const error = (await failureOf(
      run({
        agent: scripted([
          { commit: "Half of it", files: { "half.txt": "1" } },
          { shell: "echo rest > rest.txt" },
          { exit: 3 },
        ]),
        sandbox: kubernetes({ imageName: IMAGE }),
        branchStrategy: { type: "branch", branch: "agent/half" },
        prompt: "Do half of it",
        cwd,
      }),
    )) as Error & { preservedWorktreePath: string };
    expect(error).toMatchObject({ name: "AgentFailedError", exitCode: 3 });
    expect(git(cwd, "log", "-1", "--format=%s", "agent/half")).toBe("Half of it");
    expect(readFileSync(join(error.preservedWorktreePath, "rest.txt"), "utf8")).toBe("rest\n");
    expect(await podsOf(cwd)).toEqual([]);
  });

  it("continues in a second iteration where the first one ended", async () => {
    const cwd = temporaryRepository();
    const result = await run({
      agent: command("echo line >>lines.txt; git add .; git commit -qm 'Another line'; cat lines.txt"),
      sandbox: kubernetes({ imageName: IMAGE }),
      branchStrategy: { type: "branch", branch: "agent/lines" },
      maxIterations: 2,
      prompt: "Add a line",
      cwd,
    });
    expect(result.iterations).toHaveLength(2);
    expect(git(cwd, "show", "agent/lines:lines.txt")).toBe("line\nline");
    expect(git(cwd, "rev-list", "--count", "main..agent/lines")).toBe("2");
  });

  it("keeps a merge of the agent as it is, with the commits that it merges", async () => {
    const cwd = temporaryRepository();
    const result = await run({
      agent: command(
        [
          "git checkout -qb side && echo side >side && git add . && git commit -qm Side",
          "git checkout -q - && echo main >main && git add . && git commit -qm Main",
          "git merge -q --no-ff -m Merge side && git log --format=%H",
        ].join(" && "),
      ),
      sandbox: kubernetes({ imageName: IMAGE }),
      branchStrategy: { type: "branch", branch: "agent/merge" },
      prompt: "Merge something",
      cwd,
    });
    const inSandbox = result.stdout.trim().split("\n");
    expect(inSandbox).toHaveLength(4);
    expect(git(cwd, "log", "--format=%H", "agent/merge").split("\n").sort()).toEqual(inSandbox.sort());
    expect(git(cwd, "log", "-1", "--format=%s", "agent/merge^2")).toBe("Side");
    expect(git(cwd, "log", "-1", "--format=%s", "agent/merge^1")).toBe("Main");
    expect(result.commits.map(({ sha }) => sha).sort()).toEqual(
      git(cwd, "rev-list", "main..agent/merge").split("\n").sort(),
    );
  });

  it("continues in a second run where the first one ended, and imports what is new", async () => {
    const cwd = temporaryRepository();
    await using sandbox = await createSandbox({
      branch: "agent/twice",
      sandbox: kubernetes({ imageName: IMAGE }),
      cwd,
    });
    const agent = command(
      "git log --format=%H; echo line >>lines; git add .; git commit -qm 'Another line'; wc -l <lines",
    );
    const first = await sandbox.run({ agent, prompt: "Add a line" });
    expect(git(cwd, "rev-parse", "agent/twice")).toBe(first.commits[0]?.sha);
    const second = await sandbox.run({ agent, prompt: "Add a line" });
    expect(second.stdout).toMatch(new RegExp(`^${first.commits[0]?.sha}\\n`));
    expect([...first.commits, ...second.commits].map(({ sha }) => sha)).toEqual(
      git(cwd, "rev-list", "--reverse", "main..agent/twice").split("\n"),
    );
    expect([first.commits.length, second.commits.length]).toEqual([1, 1]);
    expect(git(cwd, "show", "agent/twice:lines")).toBe("line\nline");
  });

  it("takes files that are not committed along, and lets a sandbox last", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".gitignore"), "local.env\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Ignore it");
    writeFileSync(join(cwd, "local.env"), "SETTING=1\n");
    await using sandbox = await createSandbox({
      branch: "agent/lasting",
      sandbox: kubernetes({ imageName: IMAGE, user: 1000 }),
      copyToWorktree: ["local.env"],
      cwd,
    });
    expect((await sandbox.exec("cat local.env; id -u")).stdout).toBe("SETTING=1\n1000\n");
    await sandbox.exec("echo kept > /tmp/kept");
    await sandbox.run({ agent: scripted([{ commit: "One", files: { one: "1" } }]), prompt: "One" });
    await sandbox.run({ agent: scripted([{ commit: "Two", files: { two: "2" } }]), prompt: "Two" });
    expect((await sandbox.exec("cat /tmp/kept")).stdout).toBe("kept\n");
    expect(git(cwd, "log", "--reverse", "--format=%s", "main..agent/lasting")).toBe("One\nTwo");
  });

  it("lets hooks use sudo for root, and refuses it for all others before a pod is made", async () => {
    const options = {
      agent: scripted([{ commit: "One", files: { one: "1" } }]),
      hooks: {
        sandbox: {
          onSandboxReady: [{ command: "touch /tmp/file && chown 1234 /tmp/file", sudo: true }],
        },
      },
      prompt: "One",
    };
    const asRoot = temporaryRepository();
    await run({ ...options, cwd: asRoot, sandbox: kubernetes({ imageName: IMAGE, user: 0 }) });
    expect(existsSync(join(asRoot, "one"))).toBe(true);
    const asAgent = temporaryRepository();
    const attempt = run({ ...options, cwd: asAgent, sandbox: kubernetes({ imageName: IMAGE, user: 1000 }) });
    expect(await failureOf(attempt)).toMatchObject({ name: "SandboxUnavailableError" });
    expect(await podsOf(asAgent)).toEqual([]);
  });

  it("puts env vars into no place where the cluster keeps them", async () => {
    const cwd = temporaryRepository();
    const secret = "sk-of-nobody-else-4711";
    await using sandbox = await createSandbox({
      branch: "agent/secret",
      sandbox: kubernetes({ imageName: IMAGE, env: { API_KEY: secret } }),
      cwd,
    });
    expect((await sandbox.exec('test "$API_KEY" = sk-of-nobody-else-4711 && echo there')).stdout).toBe(
      "there\n",
    );
    for (const kind of ["pods", "events", "secrets", "configmaps"]) {
      expect(await kubectl("get", kind, "--output", "json")).not.toContain(secret);
    }
  });
});

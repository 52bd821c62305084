import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RunOptions, type RunResult, run, scripted } from "../../../src/index.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { type TakenArtifacts, takeArtifacts } from "../../../src/trajectory/record/artifacts.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../../security/support.ts";
import { BRANCH, directoryOf, entriesOf, ofType } from "../recording.ts";

type Exec = SandboxHandle["exec"];

/** Does some work in a sandbox, and takes artifacts of it. `disguise` is what the sandbox makes of a command. */
const take = async (
  script: string,
  globs: readonly string[],
  disguise: (command: string) => string = (command) => command,
): Promise<TakenArtifacts & { readonly directory: string }> => {
  const repositoryPath = temporaryDirectory();
  const name = `artifacts-${basename(repositoryPath)}`;
  const handle = await testIsolated().create({ runId: name, sandboxName: name, repositoryPath });
  onTestFinished(() => handle.close());
  expect(await handle.exec(script)).toMatchObject({ exitCode: 0 });
  const directory = join(repositoryPath, "artifacts");
  const exec: Exec = (command, options) => handle.exec(disguise(command), options);
  return { directory, ...(await takeArtifacts({ ...handle, exec }, globs, directory, 60_000)) };
};

const paths = ({ artifacts = [] }: Pick<RunResult, "artifacts">): string[] =>
  artifacts.map(({ path }) => path);

describe("artifacts", () => {
  it("are copied out of the sandbox unchanged, not executable, and readable by their owner only", async () => {
    const { artifacts, problems, directory } = await take(
      "mkdir -p 'out/a b' other; printf 'x\\0\\377y' > 'out/a b/data.bin'; : > out/empty; echo n > other/no; chmod 777 out/empty",
      ["out/**/*"],
    );
    expect(problems).toEqual([]);
    expect(artifacts).toEqual([
      { path: "out/a b/data.bin", hostPath: join(directory, "out/a b/data.bin"), bytes: 4 },
      { path: "out/empty", hostPath: join(directory, "out/empty"), bytes: 0 },
    ]);
    expect(readFileSync(join(directory, "out/a b/data.bin"))).toEqual(Buffer.from([0x78, 0, 0xff, 0x79]));
    expect(lstatSync(join(directory, "out/empty")).mode & 0o777).toBe(0o600);
  });

  it("of any size are whole", async () => {
    const script = "seq 1 200000 > numbers; head -c 1234567 /dev/zero > zeros";
    const { artifacts } = await take(script, ["numbers", "zeros"]);
    const [numbers = "", zeros = ""] = artifacts.map(({ hostPath }) => readFileSync(hostPath, "utf8"));
    expect(numbers).toBe(Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(""));
    expect(zeros).toBe("\0".repeat(1_234_567));
  });

  it("are an empty list if nothing matches the globs", async () => {
    const { directory, ...taken } = await take("true", ["out/*"]);
    expect(taken).toEqual({ artifacts: [], problems: [] });
    expect(existsSync(directory)).toBe(false);
  });

  it("are regular files of the worktree, and nothing else", async () => {
    const taken = await take(
      [
        "mkdir -p out/.git real",
        "ln -s /etc/passwd out/link; ln -s /etc out/directory",
        "mkfifo out/pipe",
        "echo x > out/.git/config",
        'echo x > "out/a\nb"',
        "echo x > real/file; ln -s real linked",
        "echo x > out/file",
      ].join("; "),
      ["out/**/*", "linked/*", "linked/file"],
    );
    expect(paths(taken)).toEqual(["out/file"]);
    expect(taken.problems).toEqual([]);
  });

  it("are bounded in size: larger files stay, with a warning, and the others are copied", async () => {
    const script = "truncate -s 1T a-hole; truncate -s 101M b-large; echo x > c-small";
    const taken = await take(script, ["*-*"]);
    expect(paths(taken)).toEqual(["c-small"]);
    expect(taken.problems).toEqual([
      "Artifacts were left in the sandbox: a-hole (1099511627776 bytes), b-large (105906176 bytes).",
    ]);
  });

  it("are bounded in number, with a warning", async () => {
    const { artifacts, problems } = await take(
      "mkdir out; cd out; seq 1 1003 | xargs touch",
      ["out/*"],
      // Does the same with empty files, and starts no process for each of them.
      (command) => (command.includes("base64") ? "awk '{ print \"file\", NR - 1, 0 }'" : command),
    );
    expect(artifacts).toHaveLength(1000);
    expect(problems).toEqual(["3 artifacts exceed the limit, and were left in the sandbox."]);
  });

  it("cannot be forged by the agent's programs", async () => {
    // In a sandbox like this one, the agent can put its own programs first.
    const { artifacts, problems, directory } = await take("echo x > a; echo x > b", ["a", "b"], (command) =>
      command.includes("base64") ? "echo 'file 0 4'; echo eHh4eHh4eHg=; echo 'file 7 1'" : command,
    );
    expect(artifacts).toEqual([]);
    expect(problems.join()).toContain("the sandbox printed more than it said");
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("the artifacts of a run", () => {
  const runWith = (steps: Parameters<typeof scripted>[0], overrides: Partial<RunOptions>) => {
    const cwd = temporaryRepository();
    const running = run({
      agent: scripted(steps),
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      ...overrides,
    } as RunOptions);
    return { cwd, running };
  };

  it("are copied after the last iteration only, and as that left them, ignored files too", async () => {
    const { cwd, running } = runWith(
      [{ shell: "echo '*-*' > .gitignore; truncate -s 101M a-large; echo x >> b-log" }],
      { maxIterations: 2, trajectory: { artifacts: ["*-*"] } },
    );
    const result = await running;
    const hostPath = join(directoryOf(cwd, result), "artifacts/b-log");
    expect(result.artifacts).toEqual([{ path: "b-log", hostPath, bytes: 4 }]);
    expect(readFileSync(hostPath, "utf8")).toBe("x\nx\n");
    expect(ofType(entriesOf(directoryOf(cwd, result)), "artifact")).toMatchObject([
      { path: "b-log", bytes: 4 },
    ]);
    expect(result.warnings).toEqual(["Artifacts were left in the sandbox: a-large (105906176 bytes)."]);
  });

  it("are copied when the agent has failed", async () => {
    const { running } = runWith([{ shell: "echo x > log.txt" }, { exit: 3 }], {
      trajectory: { artifacts: ["log.txt"] },
    });
    expect(paths(await failureOf(running))).toEqual(["log.txt"]);
  });
});

it.each([
  [["../x"], "must have no `.` and no `..`"],
  [["/etc/*"], "must be a relative path"],
  ["*.txt", "must be a list"],
  [[1], "must be a string"],
])("trajectory.artifacts cannot be %j", async (artifacts, problem) => {
  const running = run({
    agent: scripted([]),
    cwd: temporaryDirectory(),
    sandbox: testIsolated(),
    prompt: "x",
    trajectory: { artifacts: artifacts as string[] },
  });
  await expect(running).rejects.toMatchObject({
    name: "InvalidOptionsError",
    message: expect.stringContaining(problem),
  });
});

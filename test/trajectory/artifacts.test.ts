import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RunOptions, type RunResult, run, scripted } from "../../src/index.ts";
import type { SandboxCreateOptions } from "../../src/sandboxes/contract.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { failureOf } from "../security/support.ts";
import { BRANCH, directoryOf, entriesOf, ofType } from "./recording.ts";

const runWith = (
  cwd: string,
  script: string,
  artifacts: readonly string[],
  overrides: Partial<RunOptions> = {},
): Promise<RunResult> =>
  run({
    agent: scripted([{ shell: script }]),
    cwd,
    sandbox: testIsolated(),
    prompt: "x",
    branchStrategy: BRANCH,
    trajectory: { artifacts },
    ...overrides,
  } as RunOptions);

const paths = ({ artifacts = [] }: Pick<RunResult, "artifacts">): string[] =>
  artifacts.map(({ path }) => path);

describe("artifacts", () => {
  it("are copied out of the sandbox as they are, ignored files too", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(
      cwd,
      "echo out > .gitignore; mkdir -p 'out/a b' other; printf 'x\\0\\377y' > 'out/a b/data.bin'; : > out/empty; echo n > other/no",
      ["out/**/*"],
    );
    expect(result.warnings).toEqual([]);
    const directory = join(directoryOf(cwd, result), "artifacts");
    expect(result.artifacts).toEqual([
      { path: "out/a b/data.bin", hostPath: join(directory, "out/a b/data.bin"), bytes: 4 },
      { path: "out/empty", hostPath: join(directory, "out/empty"), bytes: 0 },
    ]);
    expect(readFileSync(join(directory, "out/a b/data.bin"))).toEqual(Buffer.from([0x78, 0, 0xff, 0x79]));
    expect(ofType(entriesOf(directoryOf(cwd, result)), "artifact")).toMatchObject([
      { path: "out/a b/data.bin", bytes: 4 },
      { path: "out/empty", bytes: 0 },
    ]);
  });

  it("of any size are whole", async () => {
    const cwd = temporaryRepository();
    const script = "seq 1 200000 > numbers; head -c 1234567 /dev/zero > zeros";
    const { artifacts = [] } = await runWith(cwd, script, ["numbers", "zeros"]);
    const [numbers = "", zeros = ""] = artifacts.map(({ hostPath }) => readFileSync(hostPath, "utf8"));
    expect(numbers).toBe(Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(""));
    expect(zeros).toBe("\0".repeat(1_234_567));
  });

  it("are an empty list where nothing is what the globs stand for", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(cwd, "true", ["out/*"]);
    expect(result).toMatchObject({ artifacts: [], warnings: [] });
    expect(existsSync(join(directoryOf(cwd, result), "artifacts"))).toBe(false);
  });

  it("are copied after the last iteration only, and as that left them", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(cwd, "echo x >> log.txt", ["log.txt"], { maxIterations: 3 });
    expect(readFileSync(result.artifacts?.[0]?.hostPath ?? "", "utf8")).toBe("x\nx\nx\n");
  });

  it("are copied when the agent has failed", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      runWith(cwd, "", ["log.txt"], { agent: scripted([{ shell: "echo x > log.txt" }, { exit: 3 }]) }),
    );
    expect(paths(error)).toEqual(["log.txt"]);
  });

  it("are regular files of the worktree, and nothing else", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(
      cwd,
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
    expect(paths(result)).toEqual(["out/file"]);
    expect(result.warnings).toEqual([]);
  });

  it("are bounded in size: what is too large stays, with a warning, and the rest comes", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(
      cwd,
      "echo '*-*' > .gitignore; truncate -s 1T a-hole; truncate -s 101M b-large; echo x > c-small",
      ["*-*"],
    );
    expect(paths(result)).toEqual(["c-small"]);
    expect(result.warnings).toEqual([
      "Artifacts were left in the sandbox: a-hole (1099511627776 bytes), b-large (105906176 bytes).",
    ]);
  });

  it("are bounded in number, with a warning", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(cwd, "mkdir out; echo out > .gitignore; cd out; seq 1 1003 | xargs touch", [
      "out/*",
    ]);
    expect(result.artifacts).toHaveLength(1000);
    expect(result.warnings).toEqual(["3 artifacts are too many, and were left in the sandbox."]);
  });

  it("are never executable, and nobody else's to read", async () => {
    const cwd = temporaryRepository();
    const result = await runWith(cwd, "echo x > tool; chmod 777 tool", ["tool"]);
    expect(lstatSync(result.artifacts?.[0]?.hostPath ?? "").mode & 0o777).toBe(0o600);
  });

  it("cannot be made up by programs of the agent's", async () => {
    const cwd = temporaryRepository();
    // In this sandbox, the agent can put its own programs first.
    const result = await runWith(cwd, "echo x > a", ["a", "b"], {
      sandbox: {
        ...testIsolated(),
        create: async (options: SandboxCreateOptions) => {
          const handle = await testIsolated().create(options);
          const exec: typeof handle.exec = (line, execOptions) =>
            handle.exec(
              line.includes("base64") ? "echo 'file 0 4'; echo eHh4eHh4eHg=; echo 'file 7 1'" : line,
              execOptions,
            );
          return { ...handle, exec };
        },
      },
    });
    expect(result.artifacts).toEqual([]);
    expect(result.warnings.join()).toContain("the sandbox printed more than it said");
    expect(readdirSync(join(directoryOf(cwd, result), "artifacts"))).toEqual([]);
  });
});

it.each([
  [["../x"], "must have no `.` and no `..`"],
  [["/etc/*"], "must be relative to the worktree"],
  ["*.txt", "must be a list"],
  [[1], "must be a string"],
])("trajectory.artifacts cannot be %j", async (artifacts, problem) => {
  const running = run({
    agent: scripted([]),
    cwd: temporaryRepository(),
    sandbox: testIsolated(),
    prompt: "x",
    trajectory: { artifacts: artifacts as string[] },
  });
  await expect(running).rejects.toMatchObject({
    name: "InvalidOptionsError",
    message: expect.stringContaining(problem),
  });
});

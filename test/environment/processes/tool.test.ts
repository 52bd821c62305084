import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/client/client.ts";
import { openLine } from "../../../src/environment/tool/sealedLines.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { toolFile, useTool } from "../builtTool.ts";
import { definition, folder, http } from "../serving.ts";

useTool();

type Line = { readonly type: string } & Record<string, unknown>;

interface StartedTool {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has printed. Everything has to be JSON. */
  readonly lines: Line[];
  readonly exitCode: Promise<number>;
  /** Its first line of a type, once that is there. */
  line(type: string): Promise<Line>;
}

/** The program for environments, as it is started in a sandbox. */
const tool = (args: readonly string[], env: NodeJS.ProcessEnv = {}): StartedTool => {
  const child = spawn(process.execPath, [toolFile(), ...args], { env: { ...process.env, ...env } });
  const lines: Line[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(JSON.parse(line)));
  child.stderr.on("data", (chunk) => process.stderr.write(chunk));
  const exitCode = once(child, "close").then(([code, signal]) => code ?? signal);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exitCode;
  });
  const line = async (type: string): Promise<Line> => {
    await waitFor(() => lines.some((each) => each.type === type) || child.exitCode !== null);
    return lines.find((each) => each.type === type) ?? { type: "none" };
  };
  return { child, lines, exitCode, line };
};

const place = (members: string, files: Readonly<Record<string, string>> = {}) => {
  const worktree = temporaryDirectory();
  const directory = folder({ "environment.mjs": definition(members), ...files });
  return { worktree, args: ["--directory", directory, "--worktree", worktree] };
};

const pid = (worktree: string, name: string): number => {
  try {
    return Number(readFileSync(join(worktree, name), "utf8").trim());
  } catch {
    return 0;
  }
};

const NOISY = `concurrency: 1, tests: {
  "a/passes": () => { console.log("noise"); process.stdout.write('{"type":"result","result":{}}\\n'); },
  "a/fails": { parameters: { word: { type: "string", default: "no" } }, run: ({ parameters }) => { throw new Error(parameters.word); } },
}`;

describe("tool.js run", () => {
  it("tells how far it is, and then the result", async () => {
    const { args } = place(NOISY, { "setup.sh": "echo setting up" });
    const { lines, exitCode } = tool(["run", ...args]);
    expect(await exitCode).toBe(0);
    expect(lines.map(({ type }) => type)).toEqual([...Array(5).fill("progress"), "result"]);
    expect(lines[0]).toEqual({ type: "progress", message: "Running setup.sh" });
    expect(lines[4]).toMatchObject({ progress: { done: 2, total: 2 } });
    expect(lines[5]).toMatchObject({ result: { path: "", passed: 1, failed: 1, total: 2, error: null } });
  });

  it("takes a path, parameters and a scratch directory, and leaves the set-up out", async () => {
    const { args } = place(NOISY, { "setup.sh": "exit 1" });
    const scratch = join(temporaryDirectory(), "scratch");
    const parameters = JSON.stringify({ word: "yes" });
    const { line, exitCode } = tool([
      "run",
      "--no-setup",
      ...args,
      "--scratch",
      scratch,
      "--parameters",
      parameters,
      "--",
      "a/fails",
    ]);
    expect(await exitCode).toBe(0);
    expect(await line("result")).toMatchObject({ result: { path: "a/fails", tests: [{ message: "yes" }] } });
  });

  it("says what is wrong, and ends with 1", async () => {
    const { args } = place(NOISY, { "setup.sh": "echo broken; exit 7" });
    const failing = tool(["run", ...args]);
    expect(await failing.exitCode).toBe(1);
    expect(failing.lines.at(-1)).toEqual({
      type: "failed",
      message: "setup.sh ended with exit code 7",
      log: "broken\n",
    });
    const unknown = tool(["run", "--no-setup", ...args, "b"]);
    expect(await unknown.exitCode).toBe(1);
    expect(unknown.lines.at(-1)).toMatchObject({
      type: "failed",
      status: 404,
      paths: ["a/passes", "a/fails"],
    });
  });

  it("ends with 2 for a command line that it does not understand", async () => {
    const { lines, exitCode } = tool(["run"]);
    expect(await exitCode).toBe(2);
    expect(lines).toMatchObject([{ type: "failed", message: "--directory is missing." }]);
  });
});

it("tool.js seals its lines with the key that it is sent, and leaves the rest of its input alone", async () => {
  const child = spawn(process.execPath, [toolFile(), "proxy", "--sealed"]);
  onTestFinished(() => void child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.write("the k");
  child.stdin.write(`ey\n${JSON.stringify({ schema: { tests: [{ path: "a" }] } })}\n`);
  const { value: line } = await lines.next();
  expect(openLine("another", line)).toBeUndefined();
  expect(JSON.parse(openLine("the key", line) ?? "")).toMatchObject({ type: "ready" });
});

it("tool.js does not believe results of tests that were changed while they ran, even if they were changed back", async () => {
  const { args } = place(
    `tests: { poison: async ({ run }) => { await run('cp "$SANDDUNE_ENVIRONMENT/data" "$SANDDUNE_SCRATCH/data"; echo 0 > "$SANDDUNE_ENVIRONMENT/data"; cp -p "$SANDDUNE_SCRATCH/data" "$SANDDUNE_ENVIRONMENT/data"'); } }`,
    { data: "1\n" },
  );
  const { line } = tool(["run", ...args]);
  expect(await line("result")).toMatchObject({
    result: { passed: 1, error: expect.stringMatching(/data was changed while the tests ran/) },
  });
});

it("tool.js lets nobody in who asks for its debugger", async () => {
  const { child, line, exitCode } = tool(["proxy"]);
  child.stdin.write(`${JSON.stringify({ schema: { tests: [{ path: "a" }] } })}\n`);
  await line("ready");
  const said: string[] = [];
  child.stderr.on("data", (chunk) => said.push(String(chunk)));
  child.kill("SIGUSR1");
  child.stdin.end();
  expect(await exitCode).toBe(0);
  expect(said.join("")).toBe("");
});

it("tool.js setup makes a directory that stands for the work, and says which tests there are", async () => {
  const { args } = place(NOISY);
  const root = temporaryDirectory();
  const worktree = join(root, "empty");
  const { lines, exitCode } = tool([
    ...["setup", "--schema", ...args.slice(0, 2)],
    ...["--worktree", worktree, "--scratch", join(root, "scratch")],
  ]);
  expect(await exitCode).toBe(0);
  expect(lines).toMatchObject([
    { type: "schema", schema: { tests: [{ path: "a/passes" }, { path: "a/fails" }] } },
    { type: "prepared" },
  ]);
  expect(readdirSync(worktree)).toEqual([]);
});

it("tool.js run unpacks the work when that is announced, and tests it when its input ends", async () => {
  const { args, worktree } = place(
    `tests: { made: async ({ run }) => { const { stdout } = await run("cat work made; pwd"); throw new Error(stdout); } }`,
  );
  writeFileSync(join(worktree, "work"), "work\n");
  const root = temporaryDirectory();
  const [tree, archive] = [join(root, "tree"), join(root, "tree.tar")];
  const { child, line } = tool([
    ...["run", ...args.slice(0, 2), "--worktree", tree, "--scratch", join(root, "scratch")],
    ...["--archive", archive, "--tree", tree],
  ]);
  await line("waiting");
  execFileSync("tar", ["-cf", archive, "-C", worktree, "work"]);
  child.stdin.write("unpack\n");
  await line("unpacked");
  expect(readdirSync(root)).toEqual(["tree"]);
  writeFileSync(join(tree, "made"), "made\n");
  child.stdin.end();
  expect(await line("result")).toMatchObject({
    result: { tests: [{ message: `work\nmade\n${tree}` }], error: null },
  });
});

const WAITING = `tests: {
  waits: async ({ run, worktree }) => {
    writeFileSync(join(worktree, "worker"), String(process.pid));
    await run("echo $$ > shell; exec sleep 1011");
  },
  blocks: ({ worktree }) => {
    writeFileSync(join(worktree, "worker"), String(process.pid));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
}`;

describe("tool.js serve", () => {
  it("is ready, lets in those who have the token, and ends with everything by SIGTERM", async () => {
    const { args, worktree } = place(WAITING, {
      "setup.sh": 'sleep 1012 & echo $! > "$SANDDUNE_WORKTREE/background"',
    });
    const { child, line, exitCode } = tool(["serve", ...args, "--port", "0"], {
      SANDDUNE_ENVIRONMENT_TOKEN: "s3cret",
    });
    const { url } = (await line("ready")) as Line & { url: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await http(url, "/run")).status).toBe(401);
    const running = createEnvironmentClient({ url, token: "s3cret" })
      .run("waits")
      .catch((reason) => reason);
    await waitFor(() => pid(worktree, "shell") > 0);
    const started = ["worker", "shell", "background"].map((name) => pid(worktree, name));
    expect(started.map(processIsAlive)).toEqual([true, true, true]);
    child.kill("SIGTERM");
    expect(await exitCode).toBe(143);
    expect(started.map(processIsAlive)).toEqual([false, false, false]);
    expect(await running).toMatchObject({ name: "TestServerError" });
  });

  it("takes its children along even if it is killed itself, while a test waits or blocks", async () => {
    const killDuring = async (path: string) => {
      const { args, worktree } = place(WAITING, {
        "setup.sh": 'sleep 1013 & echo $! > "$SANDDUNE_WORKTREE/background"',
      });
      const scratch = join(temporaryDirectory(), "scratch");
      const { child, line } = tool(["serve", ...args, "--scratch", scratch]);
      const { url } = (await line("ready")) as Line & { url: string };
      createEnvironmentClient({ url })
        .run(path)
        .catch(() => {});
      const names = ["worker", "background", ...(path === "waits" ? ["shell"] : [])];
      await waitFor(() => names.every((name) => pid(worktree, name) > 0));
      child.kill("SIGKILL");
      await waitFor(() => !names.some((name) => processIsAlive(pid(worktree, name))));
    };
    await Promise.all(["waits", "blocks"].map(killDuring));
  });

  it("listens at a socket as well", async () => {
    const { args, worktree } = place(`tests: { fine: () => {} }`);
    const socket = join(worktree, "tests.sock");
    const { child, line, exitCode } = tool(["serve", ...args, "--socket", socket]);
    const { url } = (await line("ready")) as Line & { url: string };
    expect(await createEnvironmentClient({ url: "http://127.0.0.1:1", socket }).run("fine")).toMatchObject({
      passed: 1,
    });
    expect(await createEnvironmentClient({ url }).run("fine")).toMatchObject({ passed: 1 });
    child.kill();
    expect(await exitCode).toBe(143);
  });
});

it("tool.js proxy forwards requests to the process that started it", async () => {
  const { child, lines, line, exitCode } = tool(["proxy"]);
  const tell = (value: unknown) => child.stdin.write(`${JSON.stringify(value)}\n`);
  tell({ schema: { tests: [{ path: "far/away" }] } });
  const { url } = (await line("ready")) as Line & { url: string };
  const running = createEnvironmentClient({ url }).run("far", { parameters: { n: 1 } });
  const { id } = await line("request");
  expect(lines.at(-1)).toMatchObject({ type: "request", request: { path: "far", parameters: { n: 1 } } });
  const result = {
    path: "far",
    passed: 1,
    failed: 0,
    total: 1,
    tests: [{ path: "far/away", passed: true, durationMs: 1 }],
    error: null,
  };
  tell({ id, result });
  expect(await running).toEqual(result);
  child.stdin.end();
  expect(await exitCode).toBe(0);
});

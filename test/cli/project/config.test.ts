import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { repositoryWithAgent } from "../fixtures.ts";

const write = (cwd: string, name: string, content: unknown): void => {
  mkdirSync(join(cwd, ".sanddune"), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(cwd, ".sanddune", name), text);
};
const configure = (cwd: string, config: object): void => write(cwd, "config.json", config);

const BASE = { agent: "command", agentCommand: "sh ./agent.sh", sandbox: "bubblewrap" };

/** Commits what it sees of the settings. */
const REPORTER = `
{ cat /data/note; cat "$TOOLS/tool"; cat copied; cat hooked; echo "$PATH"; } > seen 2>&1
git add seen && git commit --quiet -m "Report"
`;

describeWith(["bubblewrap"], "settings of .sanddune/config.json", () => {
  const scene = () => {
    const tools = temporaryDirectory();
    writeFileSync(join(tools, "tool"), "a tool\n");
    const cwd = repositoryWithAgent(REPORTER.replace("$TOOLS", tools));
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data/note"), "a note\n");
    writeFileSync(join(cwd, "copied"), "a copy\n");
    writeFileSync(join(cwd, ".git/info/exclude"), "data\ncopied\nhooked\n.sanddune\n");
    const settings = {
      ...BASE,
      network: "none",
      mounts: [{ hostPath: "data", sandboxPath: "/data", readOnly: true }],
      readOnlyPaths: [tools],
      path: "/usr/bin:/bin:/own",
      hooks: { sandbox: { onSandboxReady: [{ command: "echo a hook > hooked" }] } },
      branchStrategy: { type: "branch", branch: "agent/configured" },
      copyToWorktree: ["copied"],
    };
    configure(cwd, settings);
    return { cwd, settings };
  };

  it("hold for runs, once the user trusts what they open", async () => {
    const { cwd } = scene();
    const refused = await runCli(["run", "--prompt", "x"], { cwd });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(
      "config.json sets mounts, readOnlyPaths, copyToWorktree, which runs code on this machine",
    );
    expect(git(cwd, "branch", "--list", "agent/*")).toBe("");

    const trusted = await runCli(["trust"], { cwd });
    expect(trusted.stdout).toContain('"hostPath": "data"');
    const { exitCode, stderr } = await runCli(["run", "--prompt", "x"], { cwd });
    expect(stderr).not.toContain("error");
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "agent/configured:seen")).toBe(
      "a note\na tool\na copy\na hook\n/usr/bin:/bin:/own",
    );
  });

  it("give way to flags, and are asked about again once they change", async () => {
    const { cwd, settings } = scene();
    await runCli(["trust"], { cwd });
    const flags = ["--branch", "agent/flag", "--path", "/usr/bin:/bin"];
    expect((await runCli(["run", "--prompt", "x", ...flags], { cwd })).exitCode).toBe(0);
    expect(git(cwd, "show", "agent/flag:seen").split("\n").at(-1)).toBe("/usr/bin:/bin");
    configure(cwd, { ...settings, mounts: [{ hostPath: "/var", sandboxPath: "/data" }] });
    expect((await runCli(["run", "--prompt", "x"], { cwd })).stderr).toContain(
      "not trusted these settings yet",
    );
  });
});

describe("a setting of .sanddune/config.json that cannot be used is refused before anything starts:", () => {
  it.each<[object, string]>([
    [{ netwrok: "none" }, "netwrok: there is no such option"],
    [{ mounts: [{ hostPath: "x", sandboxPth: "/x" }] }, "mounts[0].sandboxPth: there is no such option"],
    [{ readOnlyPaths: ["relative"] }, "readOnlyPaths: must be a list of absolute paths; got a list"],
    [{ hooks: { host: { onReady: [] } } }, "hooks.host.onReady: there is no such option"],
    [{ branchStrategy: { type: "brnch" } }, "branchStrategy: `type` must be"],
    [{ pids: "many" }, "pids: must be a whole number, 1 or more; got a string"],
    [{ memory: "2g" }, "memory: it does not apply to the sandbox bubblewrap"],
    [{ network: "own-network" }, "network: bubblewrap supports only"],
    [{ mounts: [{ hostPath: "gone", sandboxPath: "/x" }] }, "mounts: "],
    [
      { allowUnsafeMounts: true },
      "allowUnsafeMounts: cannot be set in this file. Set it for a single run: --allow-unsafe-mounts",
    ],
    [
      { extraArgs: ["--privileged"] },
      "extraArgs: cannot be set in this file. Set it for a single run: --engine-arg",
    ],
  ])("%j", async (setting, problem) => {
    const cwd = temporaryRepository();
    configure(cwd, { ...BASE, ...setting });
    await runCli(["trust"], { cwd });
    const { exitCode, stderr } = await runCli(["run", "--prompt", "x", "--branch", "b"], { cwd });
    expect(stderr).toContain(`config.json: ${problem}`);
    expect(exitCode).toBe(2);
    expect(git(cwd, "branch", "--list", "b")).toBe("");
  });
});

describe("is refused until it is trusted, because it hands files of the user, or rights, to the sandbox:", () => {
  it.each([
    { copyToWorktree: [".env"] },
    { branchStrategy: { type: "head" } },
    { hooks: { sandbox: { onSandboxReady: [{ command: "true", sudo: true }] } } },
  ])("%j", async (setting) => {
    const cwd = repositoryWithAgent("true");
    configure(cwd, { ...BASE, ...setting });
    const { exitCode, stderr } = await runCli(["run", "--prompt", "x"], { cwd });
    expect(stderr).toMatch(new RegExp(`config\\.json sets ${Object.keys(setting)[0]}(\\.sandbox)?, which `));
    expect(exitCode).toBe(2);
  });
});

const TEST_ISOLATED = resolve(import.meta.dirname, "../../../src/sandboxes/test-isolated.ts");
const MODULE = `import { testIsolated } from ${JSON.stringify(TEST_ISOLATED)};
export default { ...testIsolated(), name: "mine" };
`;
/** Its sandboxes cannot be closed. What is left of one is a directory, whose name clean is told. */
const LEAVING_MODULE = `import { testIsolated } from ${JSON.stringify(TEST_ISOLATED)};
const inner = testIsolated();
const handles = (globalThis.leftHandles ??= new Map());
export default {
  ...inner,
  name: "mine",
  create: async (options) => {
    const handle = await inner.create(options);
    handles.set(options.sandboxName, handle);
    return { ...handle, close: async () => { throw new Error("it stays"); } };
  },
  leftovers: {
    holdsWork: false,
    find: async ({ sandboxName }) => (handles.has(sandboxName) ? "mine/" + sandboxName : undefined),
    remove: async ({ sandboxName }) => {
      await handles.get(sandboxName).close();
      handles.delete(sandboxName);
    },
  },
};
`;
const AGENT = [
  "--agent-command",
  "git commit --quiet --allow-empty -m Done",
  "--branch",
  "b",
  "--prompt",
  "x",
];

describe("a sandbox provider of the user's own", () => {
  it("is a file that --sandbox names", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "mine.mjs"), MODULE);
    const { exitCode, stderr } = await runCli(["run", ...AGENT, "--sandbox", "./mine.mjs"], { cwd });
    expect(stderr).toContain("in mine …");
    expect(exitCode).toBe(0);
    expect(git(cwd, "log", "-1", "--format=%s", "b")).toBe("Done");
  });

  it("is a file in .sanddune/ that the config names, once it is trusted, and as long as it does not change", async () => {
    const cwd = temporaryRepository();
    write(cwd, "mine.mjs", MODULE);
    configure(cwd, { sandbox: ".sanddune/mine.mjs" });
    const run = () => runCli(["run", ...AGENT], { cwd });
    expect((await run()).stderr).toContain("config.json sets sandbox, which runs code on this machine");
    await runCli(["trust"], { cwd });
    expect((await run()).exitCode).toBe(0);
    write(cwd, "mine.mjs", `${MODULE}// changed\n`);
    expect((await run()).exitCode).toBe(2);
  });

  it.each(["./mine.mjs", "./..mine.mjs", ".sanddune/worktrees/agent/mine.mjs", ".sanddune/runs/mine.mjs"])(
    "is not loaded from a place where agents may change it: %s",
    async (path) => {
      const cwd = temporaryRepository();
      const proof = join(temporaryDirectory(), "loaded");
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(
        join(cwd, path),
        `import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(proof)}, "");`,
      );
      configure(cwd, { sandbox: path });
      for (const args of [["trust"], ["run", ...AGENT]]) {
        const { exitCode, stderr } = await runCli(args, { cwd });
        expect(stderr).toContain("the module must be in .sanddune/ or outside the repository");
        expect(exitCode).toBe(2);
      }
      expect(existsSync(proof)).toBe(false);
    },
  );

  it.each([
    ["export default 5;", "must be a sandbox provider"],
    ["export const x = 1;", "must be a sandbox provider"],
    ["syntax error", "could not be loaded"],
    [undefined, "there is no file"],
  ])("is refused if it is none: %s", async (source, problem) => {
    const cwd = temporaryRepository();
    if (source !== undefined) writeFileSync(join(cwd, "wrong.mjs"), source);
    const { exitCode, stderr } = await runCli(["run", ...AGENT, "--sandbox", "./wrong.mjs"], { cwd });
    expect(stderr).toContain("error: --sandbox: ");
    expect(stderr).toContain(problem);
    expect(exitCode).toBe(2);
  });

  it("has its left sandboxes found by clean, which is given its module", async () => {
    const cwd = temporaryRepository();
    const path = join(cwd, "mine.mjs");
    writeFileSync(path, LEAVING_MODULE);
    const { stdout } = await runCli(["run", ...AGENT, "--sandbox", path], { cwd });
    expect(stdout).toContain("it stays");
    const cleaned = await runCli(["clean", "--yes", "--sandbox", path], { cwd });
    expect(cleaned.stdout).toMatch(/mine\/sanddune-/);
    expect(cleaned.exitCode).toBe(0);
    expect((await runCli(["clean", "--sandbox", path], { cwd })).stdout).not.toContain("mine/sanddune-");
  });

  it.each(["clean", "rescue x"])("is named by a file for %s", async (command) => {
    const { exitCode, stderr } = await runCli([...command.split(" "), "--sandbox", "docker"], {
      cwd: temporaryRepository(),
    });
    expect(stderr).toContain('--sandbox: "docker" is not a file');
    expect(exitCode).toBe(2);
  });

  it("has its options in its module: flags for other sandboxes are refused", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "mine.mjs"), MODULE);
    const { stderr } = await runCli(["run", ...AGENT, "--sandbox", "./mine.mjs", "--memory", "1g"], { cwd });
    expect(stderr).toContain("--memory does not apply to ./mine.mjs");
  });
});

describeWith(["docker", "podman", "bubblewrap"], "sanddune doctor --sandbox FILE", () => {
  it("examines a sandbox provider of the user's own", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "mine.mjs"), MODULE);
    const { stdout } = await runCli(["doctor", "--sandbox", "./mine.mjs"], { cwd });
    expect(stdout).toContain("✓ mine: answers; its agents were not checked");
  });
});

it("the trust is remembered in git's own directory, where no commit can write", async () => {
  const cwd = temporaryRepository();
  configure(cwd, { ...BASE, network: "host" });
  await runCli(["trust"], { cwd });
  const path = join(cwd, ".git/sanddune-trusted");
  expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  rmSync(path);
  expect((await runCli(["run", "--prompt", "x"], { cwd })).stderr).toContain(
    "not trusted these settings yet",
  );
});

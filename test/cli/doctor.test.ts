import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { useOwnTemporaryDirectory } from "../helpers/repository/ownTemporaryDirectory.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE, TEST_USER } from "../helpers/runtimes/runtimes.ts";
import { runCli } from "./callCli.ts";
import { pathWithBroken } from "./fixtures.ts";
import { type CliResult, runCliProcess } from "./startCli.ts";

interface Finding {
  readonly title: string;
  readonly state: "ok" | "failed" | "note";
  readonly detail: string;
  readonly fix?: string;
}

const SECRET = "sk-this-value-must-not-be-seen";

useOwnTemporaryDirectory();

/** A PATH on which only these of this machine's programs are. */
const pathWith = (...programs: readonly string[]): string => {
  const bin = temporaryDirectory();
  for (const program of ["sh", "env", "true", "chmod", "rm", ...programs]) {
    const found = (process.env["PATH"] ?? "")
      .split(delimiter)
      .map((directory) => join(directory, program))
      .find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(found, join(bin, program));
  }
  return bin;
};

const program = (bin: string, name: string, script: string): void => {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
};

const config = (repository: string, settings: object): void => {
  mkdirSync(join(repository, ".sanddune"), { recursive: true });
  writeFileSync(join(repository, ".sanddune/config.json"), JSON.stringify(settings));
};

const read = ({ exitCode, stdout, stderr }: CliResult) => {
  const answer = stdout === "" ? {} : JSON.parse(stdout);
  const findings: readonly Finding[] = answer.findings ?? [];
  const find = (title: string): Finding | undefined => findings.find((finding) => finding.title === title);
  const failed = findings.filter(({ state }) => state === "failed");
  expect(failed.filter(({ fix = "" }) => fix.trim() === "")).toEqual([]);
  const failures = failed.map(({ title }) => title);
  return { exitCode, ok: answer.ok, stdout, stderr, find, failures };
};

/** Where the PATH is not said, it has git, and no sandbox. */
const examine = async (
  cwd: string,
  flags: readonly string[] = [],
  { PATH = pathWith("git"), ...env }: Readonly<Record<string, string>> = {},
) => read(await runCli(["doctor", "--json", ...flags], { cwd, env: { ...env, PATH } }));

/** A process of its own, since doctor waits some seconds for the engine: the other tests go on meanwhile. */
const examineHangingEngine = () => {
  const directory = mkdtempSync(join(tmpdir(), "sanddune-hanging-"));
  program(directory, "docker", `: > ${join(directory, "asked")}; while :; do /bin/sleep 60; done`);
  const args = ["doctor", "--json", "--sandbox", "docker"];
  return { directory, examined: runCliProcess(args, { cwd: directory, env: { PATH: directory } }) };
};

let hanging: ReturnType<typeof examineHangingEngine>;
beforeAll(() => {
  hanging = examineHangingEngine();
});
afterAll(async () => {
  await hanging.examined;
  rmSync(hanging.directory, { recursive: true });
});

test("without git nothing is well, and it says how to install it", async () => {
  const { exitCode, ok, find } = await examine(temporaryDirectory(), [], { PATH: pathWith() });
  expect({ exitCode, ok }).toEqual({ exitCode: 1, ok: false });
  expect(find("git")).toEqual({
    title: "git",
    state: "failed",
    detail: "is not installed or not on the PATH",
    fix: expect.stringContaining("apt-get install git"),
  });
});

test("without any sandbox nothing is well, and each says how to install it", async () => {
  const { exitCode, find, failures } = await examine(temporaryRepository());
  expect({ exitCode, failures }).toEqual({ exitCode: 1, failures: ["sandboxes"] });
  for (const name of ["docker", "podman", "bubblewrap"]) {
    expect(find(name)).toMatchObject({ state: "note", fix: expect.stringMatching(/^Install/) });
  }
});

test("outside of a repository it examines the machine, and says that a run needs a repository", async () => {
  const { exitCode, find } = await examine(temporaryDirectory());
  expect(exitCode).toBe(1);
  expect(find("repository")).toMatchObject({ state: "failed", fix: expect.stringContaining("git init") });
  expect(find("git")).toMatchObject({ state: "ok" });
  expect(find("Node.js")).toEqual({ title: "Node.js", state: "ok", detail: process.versions.node });
});

const UNFIT_REPOSITORIES = [
  {
    kind: "a bare repository",
    make: () => {
      const path = temporaryDirectory();
      git(path, "init", "--quiet", "--bare");
      return path;
    },
    expected: { detail: /is bare$/, fix: /git worktree add/ },
  },
  {
    kind: "a repository without a commit",
    make: () => {
      const path = temporaryDirectory();
      git(path, "init", "--quiet");
      return path;
    },
    expected: { detail: /has no commit yet$/, fix: /git commit --allow-empty/ },
  },
  {
    kind: "a repository with a file where the config directory belongs",
    make: () => {
      const path = temporaryRepository();
      writeFileSync(join(path, ".sanddune"), "");
      return path;
    },
    expected: { detail: /\.sanddune is not a directory$/, fix: /git log -- / },
  },
  {
    kind: "a repository with a link where the config directory belongs",
    make: () => {
      const path = temporaryRepository();
      symlinkSync(temporaryDirectory(), join(path, ".sanddune"));
      return path;
    },
    expected: { detail: /\.sanddune is not a directory$/, fix: /git log -- / },
  },
] as const;

for (const { kind, make, expected } of UNFIT_REPOSITORIES) {
  test(`${kind} is a finding with its fix, and the rest is examined all the same`, async () => {
    const { exitCode, find } = await examine(make());
    expect(exitCode).toBe(1);
    expect(find("repository")).toMatchObject({
      state: "failed",
      detail: expect.stringMatching(expected.detail),
      fix: expect.stringMatching(expected.fix),
    });
    expect(find("Node.js")).toMatchObject({ state: "ok" });
  });
}

describeWith(["root"], "sanddune doctor among repositories of others", () => {
  test("a repository that git does not trust is a finding, with the way to trust it", async () => {
    const repository = temporaryRepository();
    for (const path of [repository, join(repository, ".git")]) chownSync(path, 4321, 4321);
    const { exitCode, find } = await examine(repository, [], { HOME: temporaryDirectory() });
    expect(exitCode).toBe(1);
    expect(find("repository")).toMatchObject({
      state: "failed",
      fix: `git config --global --add safe.directory ${repository}`,
    });
  });
});

test("a config file that is not valid has a fix", async () => {
  const repository = temporaryRepository();
  config(repository, { color: "blue" });
  const { exitCode, find } = await examine(repository);
  expect(exitCode).toBe(1);
  expect(find("config file")).toEqual({
    title: "config file",
    state: "failed",
    detail: expect.stringMatching(/^color: there is no such option/),
    fix: `Fix ${join(repository, ".sanddune/config.json")}, or remove it.`,
  });
});

for (const [settings, title, fix] of [
  [{ agent: "nope" }, "agent", /claude-code.*command/],
  [{ agent: "codex", model: "-x" }, "model", /config\.json/],
  [{ sandbox: "sandcastle" }, "sandbox", /bubblewrap/],
  [{ imageName: "Bad Name" }, "image", /config\.json/],
  [{ backlog: "sticky-notes" }, "backlog", /github-issues, beads, none/],
] as const) {
  test(`the config file ${JSON.stringify(settings)}, which a run would refuse, is a finding`, async () => {
    const repository = temporaryRepository();
    config(repository, settings);
    const { exitCode, failures, find } = await examine(repository);
    expect(exitCode).toBe(1);
    expect(failures).toContain(title);
    expect(find(title)?.fix).toMatch(fix);
  });
}

test("what the config file says about the model of its agent is not for another agent", async () => {
  const repository = temporaryRepository();
  config(repository, { agent: "codex", model: "-x" });
  const { find } = await examine(repository, ["--agent", "claude-code"]);
  expect(find("model")).toBeUndefined();
  expect(find("credentials of claude-code")).toBeDefined();
});

for (const [flag, known] of [
  ["--agent", "claude-code"],
  ["--sandbox", "podman"],
  ["--image-name", "sanddune:my-app"],
] as const) {
  test(`${flag} with a name that cannot be used shows what can be`, async () => {
    const { exitCode, stderr } = await examine(temporaryDirectory(), [flag, "No Body"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(known) });
  });
}

test("settings that a run would refuse until they are trusted are a finding", async () => {
  const cwd = temporaryRepository();
  config(cwd, { mounts: [{ hostPath: "/etc", sandboxPath: "/tmp/etc", readOnly: true }] });
  const { failures, find } = await examine(cwd);
  expect(failures).toEqual(["sandboxes", "trust"]);
  expect(find("trust")).toMatchObject({
    detail: expect.stringContaining("sets mounts"),
    fix: expect.stringMatching(/sanddune trust$/),
  });
  await runCli(["trust"], { cwd });
  expect((await examine(cwd)).failures).toEqual(["sandboxes"]);
});

test("pulling a missing image is suggested only if the user has named it", async () => {
  const bin = pathWith("git");
  const info = JSON.stringify({ version: { Version: "5.0.0" } });
  const script = `if [ "$1" = info ]; then echo '${info}'; exit; fi; echo 'Error: no such image' >&2; exit 125`;
  program(bin, "podman", script);
  const cwd = temporaryRepository();
  const own = `sanddune:${basename(cwd).toLowerCase()}`;
  // As init writes it.
  config(cwd, { sandbox: "podman", imageName: own });
  const fixOf = async (image: string, ...flags: string[]) =>
    (await examine(cwd, flags, { PATH: bin })).find(`image ${image} (podman)`)?.fix;
  expect(await fixOf(own)).toMatch(/there is no such file\. init has set this repository up already/);
  config(cwd, { sandbox: "bubblewrap" });
  expect(await fixOf(own)).toBeUndefined();
  rmSync(join(cwd, ".sanddune/config.json"));
  expect(await fixOf(own)).toMatch(/there is no such file\. Make one with: .*sanddune init/);
  writeFileSync(join(cwd, ".sanddune/Containerfile"), "FROM x\n");
  expect(await fixOf(own)).toMatch(
    new RegExp(`^Build it: .*sanddune podman build-image --image-name ${own}$`),
  );
  expect(await fixOf("my/app:1", "--image-name", "my/app:1")).toContain("podman pull my/app:1");
});

test("a repository without an identity is worth a note", async () => {
  const repository = temporaryRepository();
  git(repository, "config", "--unset", "user.email");
  const { find } = await examine(repository, [], {
    HOME: temporaryDirectory(),
    XDG_CONFIG_HOME: "/nonexistent",
  });
  expect(find("git identity")).toMatchObject({ state: "note", fix: expect.stringContaining("user.email") });
});

for (const [kind, script, detail] of [
  ["cannot start", "echo 'Error: no room' >&2; echo 'and more' >&2; exit 125", "Error: no room\nand more"],
  ["answers nonsense", "echo nonsense", "nonsense"],
] as const) {
  test(`an engine that ${kind} is shown with its words below the line, and with what to try`, async () => {
    const bin = pathWith("git");
    program(bin, "podman", script);
    const [cwd, flags, env] = [temporaryRepository(), ["--sandbox", "podman"], { PATH: bin }];
    const { exitCode, find } = await examine(cwd, flags, env);
    expect(exitCode).toBe(1);
    expect(find("podman")).toMatchObject({
      state: "failed",
      detail: expect.stringContaining(detail),
      fix: expect.stringContaining("podman info"),
    });
    const { stdout } = await runCli(["doctor", ...flags], { cwd, env });
    const [line, ...below] = stdout.slice(stdout.indexOf("✗ podman: ")).split("\n");
    expect(line).toMatch(/^✗ podman: [\w ]+$/);
    const said = detail.split("\n");
    expect(below.slice(0, said.length)).toEqual(said.map((one) => `    ${one}`));
    expect(below[said.length]).toMatch(/^ {2}fix: .*podman info/);
  });
}

describeWith(["test user"], "sanddune doctor of an ordinary user", () => {
  test("a config directory that cannot be written, or not even read, is a finding with its fix", () => {
    const [repository, home, bin] = [temporaryRepository(), temporaryDirectory(), pathWith("git")];
    execFileSync("chown", ["-R", TEST_USER, repository, home]);
    chmodSync(bin, 0o755);
    config(repository, {});
    mkdirSync(join(repository, ".sanddune/runs"), { mode: 0o700 });
    const env = ["env", `HOME=${home}`, `TMPDIR=${home}`, `PATH=${bin}`];
    for (const [mode, path] of [
      [0o755, ".sanddune"],
      [0o700, ".sanddune"],
      [0o777, ".sanddune/runs"],
    ] as const) {
      chmodSync(join(repository, ".sanddune"), mode);
      const { status, stdout } = spawnSync(
        "runuser",
        ["-u", TEST_USER, "--", ...env, process.execPath, builtCli(), "doctor", "--json"],
        { cwd: repository, encoding: "utf8" },
      );
      const { find } = read({ exitCode: status, stdout, stderr: "" });
      expect(find("repository")).toMatchObject({
        state: "failed",
        detail: expect.stringContaining(join(repository, path)),
        fix: expect.stringContaining(`sudo chown -R "$USER" ${join(repository, path)}`),
      });
    }
  });
});

describeWith(["docker"], "sanddune doctor with docker", () => {
  test("a daemon that does not answer fails where docker is the chosen sandbox, with the way to start it", async () => {
    const env = { DOCKER_HOST: "unix:///no/such/docker.sock", PATH: pathWith("git", "docker") };
    const chosen = await examine(temporaryRepository(), ["--sandbox", "docker"], env);
    expect(chosen.exitCode).toBe(1);
    expect(chosen.find("docker")).toMatchObject({
      state: "failed",
      detail: "the docker daemon does not answer",
      fix: expect.stringContaining("sudo systemctl start docker"),
    });
    const other = await examine(temporaryRepository(), ["--sandbox", "bubblewrap"], env);
    expect(other.find("docker")).toMatchObject({ state: "note" });
  });

  test("an image that is missing fails where the config file chooses docker, with the command that builds it", async () => {
    const repository = temporaryRepository();
    config(repository, { sandbox: "docker", imageName: "sanddune:no-such" });
    const { find, failures } = await examine(repository, [], { PATH: pathWith("git", "docker") });
    expect(failures).toEqual(["image sanddune:no-such (docker)"]);
    expect(find("image sanddune:no-such (docker)")?.fix).toContain("sanddune docker build-image");
  });
});

for (const engine of ["docker", "podman"] as const) {
  describeWith([engine], `sanddune doctor in a container of ${engine}`, () => {
    test("finds whose the files are, and that the agent is missing", async () => {
      const env = { ANTHROPIC_API_KEY: SECRET, PATH: pathWith("git", engine) };
      const flags = ["--sandbox", engine, "--image-name", TEST_IMAGE, "--agent", "claude-code"];
      const { exitCode, find, failures } = await examine(temporaryRepository(), flags, env);
      expect({ exitCode, failures }).toEqual({ exitCode: 1, failures: [`claude-code in ${engine}`] });
      expect(find(`files made in ${engine}`)).toMatchObject({ state: "ok" });
      expect(find(`claude-code in ${engine}`)?.fix).toContain("@anthropic-ai/claude-code");
    });
  });
}

test("what fails has its fix in the line below", async () => {
  const { exitCode, stdout } = await runCli(["doctor", "--sandbox", "docker"], {
    cwd: temporaryRepository(),
    env: { PATH: pathWith("git") },
  });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^✗ docker: .*\n {2}fix: Install Docker: /m);
  expect(stdout).toMatch(/^One problem to fix\.$/m);
});

for (const place of ["environment", ".sanddune/.env"] as const) {
  test(`a credential in the ${place} is reported by its name, and never by its value`, async () => {
    const repository = temporaryRepository();
    config(repository, { agent: "claude-code", model: "claude-opus-4-8", sandbox: "bubblewrap" });
    const envFile = join(repository, ".sanddune/.env");
    writeFileSync(envFile, place === "environment" ? "" : `ANTHROPIC_API_KEY=${SECRET}\n`, { mode: 0o600 });
    const env: Record<string, string> = { ANTHROPIC_API_KEY: place === "environment" ? SECRET : "" };
    const { find, stdout, stderr } = await examine(repository, [], env);
    expect(find("credentials of claude-code")).toEqual({
      title: "credentials of claude-code",
      state: "ok",
      detail: `ANTHROPIC_API_KEY (${place})`,
    });
    expect(find("env file")).toMatchObject({ state: "ok" });
    expect(stdout + stderr).not.toContain(SECRET);
  });
}

for (const [envFile, token, expected] of [
  [undefined, "", { state: "failed", detail: "GH_TOKEN or GITHUB_TOKEN is not set" }],
  [undefined, SECRET, { state: "failed", fix: "Write GH_TOKEN= into .sanddune/.env, without a value" }],
  ["GH_TOKEN=\n", SECRET, { state: "ok", detail: "GH_TOKEN (environment)" }],
  [`GITHUB_TOKEN=${SECRET}\n`, "", { state: "ok", detail: "GITHUB_TOKEN (.sanddune/.env)" }],
] as const) {
  test(`the token of GitHub's issues is ${expected.state} with ${envFile?.split("=")[0] ?? "nothing"} in the env file, ${token ? "one" : "none"} in the environment`, async () => {
    const repository = temporaryRepository();
    config(repository, { sandbox: "bubblewrap", backlog: "github-issues" });
    if (envFile !== undefined) writeFileSync(join(repository, ".sanddune/.env"), envFile, { mode: 0o600 });
    const { find, stdout } = await examine(repository, [], { GH_TOKEN: token, GITHUB_TOKEN: "" });
    expect(find("credentials of GitHub Issues")).toMatchObject(expected);
    expect(stdout).not.toContain(SECRET);
  });
}

test("a malformed env file is reported without its lines", async () => {
  const repository = temporaryRepository();
  config(repository, {});
  writeFileSync(join(repository, ".sanddune/.env"), `KEY="${SECRET}\n`, { mode: 0o600 });
  const { failures, stdout, stderr } = await examine(repository);
  expect(failures).toEqual(["sandboxes", "env file"]);
  expect(stdout + stderr).not.toContain(SECRET);
});

describeWith(["bubblewrap"], "sanddune doctor with bubblewrap", () => {
  const withBubblewrap = () => ({ PATH: pathWithBroken("docker", "podman") });

  test("all is well where the chosen sandbox works, and the answer for people says so line by line", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stdout, stderr } = await runCli(["doctor", "--sandbox", "bubblewrap"], {
      cwd,
      env: withBubblewrap(),
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^✓ git \d+\.\d+/m);
    expect(stdout).toMatch(/^✓ bubblewrap: works$/m);
    // The programs here cannot mount one, but this process may have done so before.
    expect(stdout).toMatch(/^[✓-] large repositories in bubblewrap: /m);
    expect(stdout).toMatch(/^✓ files made in bubblewrap: belong to you$/m);
    expect(stdout).toMatch(/^This machine is ready for runs\.$/m);
    expect(git(cwd, "status", "--porcelain", "--ignored")).toBe("");
  });

  test("the program of the backlog has to be where the agent works, and so has the agent's, which needs credentials", async () => {
    const repository = temporaryRepository();
    config(repository, { sandbox: "bubblewrap", backlog: "beads" });
    const env = { ...withBubblewrap(), COPILOT_GITHUB_TOKEN: "", COPILOT_PROVIDER_API_KEY: "" };
    const { exitCode, failures, find } = await examine(
      repository,
      ["--agent", "copilot", "--model", "gpt-5.4"],
      env,
    );
    expect(exitCode).toBe(1);
    expect(failures).toEqual(["copilot in bubblewrap", "bd in bubblewrap", "credentials of copilot"]);
    expect(find("credentials of copilot")?.fix).toContain("export COPILOT_GITHUB_TOKEN=…");
    expect(find("bd in bubblewrap")?.fix).toContain("npm install --global @beads/bd@");
  });

  test("an agent that no sandbox has fails, whichever sandbox it will be", async () => {
    const env = { ...withBubblewrap(), COPILOT_GITHUB_TOKEN: SECRET };
    const { exitCode, failures } = await examine(temporaryRepository(), ["--agent", "copilot"], env);
    expect({ exitCode, failures }).toEqual({ exitCode: 1, failures: ["copilot"] });
  });

  test("an env file that others can read is worth a note, and one that git tracks a failure", async () => {
    const repository = temporaryRepository();
    config(repository, { sandbox: "bubblewrap" });
    const path = join(repository, ".sanddune/.env");
    writeFileSync(path, `KEY=${SECRET}\n`);
    chmodSync(path, 0o644);
    const open = await examine(repository, [], withBubblewrap());
    expect(open.exitCode).toBe(0);
    expect(open.find("env file")).toMatchObject({ state: "note", fix: `chmod 600 ${path}` });
    git(repository, "add", "--force", ".sanddune/.env");
    const tracked = await examine(repository);
    expect(tracked.exitCode).toBe(1);
    expect(tracked.find("env file")).toMatchObject({
      state: "failed",
      fix: "git rm --cached .sanddune/.env",
    });
    expect(open.stdout + tracked.stdout).not.toContain(SECRET);
  });
});

test("an engine that hangs is reported, and blocks nothing else", async () => {
  const { exitCode, find } = read(await hanging.examined);
  expect(exitCode).toBe(1);
  expect(find("docker")).toMatchObject({
    state: "failed",
    detail: expect.stringContaining("did not finish"),
  });
  expect(find("podman")).toMatchObject({ state: "note" });
  expect(readdirSync(hanging.directory)).toContain("asked");
});

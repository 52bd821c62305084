import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "../fixtures.ts";
import { standInAgent, succeeds } from "../run/standInAgent.ts";

const RUN = ["run", "--branch", "b", "--prompt", "Work"];
const BY_COMMAND = {
  agent: "command",
  agentCommand: 'sh "$(git rev-parse --show-toplevel)/agent.sh"',
  sandbox: "bubblewrap",
};

/** Writes `.sanddune/config.json`, and returns its path. */
const configure = (repository: string, config: unknown): string => {
  const path = join(repository, ".sanddune/config.json");
  mkdirSync(join(repository, ".sanddune"));
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config));
  return path;
};

describeWith(["bubblewrap"], ".sanddune/config.json", () => {
  it("says what no flag says: below the repository's top, in another worktree with --cwd", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    configure(cwd, BY_COMMAND);
    mkdirSync(join(cwd, "below"));
    writeFileSync(join(cwd, "below/file"), "");
    git(cwd, "add", "below");
    git(cwd, "commit", "--quiet", "-m", "Go below");
    const worktree = join(temporaryDirectory(), "worktree");
    git(cwd, "worktree", "add", "--quiet", worktree);
    for (const [branch, place, flags] of [
      ["b1", join(cwd, "below"), []],
      ["b2", temporaryDirectory(), ["--cwd", worktree]],
    ] as const) {
      const { exitCode, stderr } = await runCli(["run", "--branch", branch, "--prompt", "Work", ...flags], {
        cwd: place,
      });
      expect(stderr).not.toContain("error");
      expect(exitCode).toBe(0);
      expect(subjectsOf(cwd, branch)[0]).toBe("Do what was asked");
    }
  });

  it("gives way to flags", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    configure(cwd, { agent: "codex", model: "gpt-6-sol", sandbox: "docker", imageName: "no-such-image" });
    const flags = ["--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap"];
    const { exitCode, stderr } = await runCli([...RUN, ...flags], { cwd });
    expect(stderr).not.toContain("error");
    expect(exitCode).toBe(0);
  });

  it("gives its model to its own agent, even if a flag names it, unless a flag names another model", async () => {
    for (const [flags, model] of [
      [["--agent", "claude-code"], "model-of-the-file"],
      [["--model", "model-of-the-flag"], "model-of-the-flag"],
    ] as const) {
      const cwd = temporaryRepository();
      configure(cwd, { agent: "claude-code", model: "model-of-the-file" });
      const commit = "git add . && git commit --quiet -m Report";
      const sandbox = standInAgent(`echo "$@" > seen; ${commit}; ${succeeds}`).slice(4);
      const { exitCode } = await runCli([...RUN, ...sandbox, ...flags], { cwd });
      expect(exitCode).toBe(0);
      expect(git(cwd, "show", "b:seen")).toContain(`--model ${model}`);
    }
  });
});

it.each([
  {
    name: "keeps its model from another agent",
    config: { agent: "codex", model: "gpt-6-sol", sandbox: "bubblewrap" },
    flags: ["--agent", "claude-code"],
    says: ["error: --model is missing, e.g. --model claude-opus-4-8"],
  },
  {
    name: "is named for an agent that nobody knows",
    config: { agent: "clod", sandbox: "bubblewrap" },
    flags: [],
    says: ['.sanddune/config.json: agent: there is no "clod"', "claude-code, codex"],
  },
  {
    name: "is named for a sandbox that nobody knows",
    config: { ...BY_COMMAND, sandbox: "jail" },
    flags: [],
    says: ['.sanddune/config.json: sandbox: there is no "jail"', "docker, podman, bubblewrap"],
  },
  {
    name: "is named for a model that is none",
    config: { agent: "codex", model: "--yolo", sandbox: "bubblewrap" },
    flags: [],
    says: [".sanddune/config.json: model: must be the name of a model"],
  },
  {
    name: "is not named for what a flag says",
    config: { ...BY_COMMAND, sandbox: "docker" },
    flags: ["--sandbox", "jail"],
    says: ['error: --sandbox: there is no "jail"'],
  },
  {
    name: "is named for a command that its agent has no use for",
    config: { agent: "codex", model: "gpt-6-sol", agentCommand: "true", sandbox: "bubblewrap" },
    flags: [],
    says: [".sanddune/config.json: agentCommand: it applies to the agent"],
  },
  {
    name: "must be JSON",
    config: "{",
    flags: [],
    says: [".sanddune/config.json: it could not be read"],
  },
  {
    name: "must hold nothing that is not known",
    config: { sandbux: "docker" },
    flags: [],
    says: ["sandbux: there is no such option", "Did you mean sandbox?"],
  },
])("the config file $name: exit code 2", async ({ config, flags, says }) => {
  const cwd = temporaryRepository();
  configure(cwd, config);
  const { exitCode, stdout, stderr } = await runCli([...RUN, ...flags], { cwd });
  for (const words of says) expect(stderr).toContain(words);
  expect(stderr.match(/error: /g)).toHaveLength(1);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(git(cwd, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
});

describeWith(["docker"], ".sanddune/config.json with an image", () => {
  it("names the image of the container", async () => {
    const cwd = temporaryRepository();
    configure(cwd, { agent: "command", agentCommand: "true", sandbox: "docker", imageName: "no-such-image" });
    const { exitCode, stderr } = await runCli(RUN, { cwd });
    expect(stderr).toContain("no-such-image");
    expect(exitCode).toBe(1);
  });
});

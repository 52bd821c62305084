import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  findHostSession,
  hostDirectoryOf,
  physicalPath,
  stateOf,
} from "../../src/agentSessions/hostSessions.ts";
import { MAX_FILE_BYTES } from "../../src/agentSessions/limits.ts";
import { claudeCode } from "../../src/agents/claudeCode/provider.ts";
import { claudeCodeProject } from "../../src/agents/claudeCode/sessions.ts";
import { codex } from "../../src/agents/codex/provider.ts";
import type { AgentProvider, AgentSessions } from "../../src/agents/contract.ts";
import { opencode } from "../../src/agents/opencode/provider.ts";
import { pi } from "../../src/agents/pi/provider.ts";
import { AgentSessionNotFoundError } from "../../src/errors.ts";

type WithSessions = AgentProvider & { readonly sessions: AgentSessions };
const agent = claudeCode("m") as WithSessions;

const VARIABLES = ["HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"];
const before = new Map(VARIABLES.map((name) => [name, process.env[name]]));

let home: string;
let repository: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-home ")));
  repository = join(home, "my.repo");
  mkdirSync(repository);
  for (const name of VARIABLES) delete process.env[name];
  process.env["HOME"] = home;
});

afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(home, { recursive: true });
});

const write = (file: string, content = "{}\n"): string => {
  const path = join(home, ".claude", file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};

const here = (name: string) => `projects/${claudeCodeProject(repository)}/${name}`;
const find = (id = "s-1", cwd = repository) => findHostSession(agent, id, cwd);
const filesOf = (id?: string, cwd?: string) => find(id, cwd).map(({ file }) => file);

describe("a session on the host", () => {
  it("is found with all of its files, the one that stands for it first", () => {
    const main = write(here("s-1.jsonl"));
    write(here("s-1/subagents/agent-b.jsonl"));
    write(here("s-1/subagents/agent-a.jsonl"));
    write(here("s-1/subagents/agent-a.meta.json"));
    write(here("s-1/tool-results/x.txt"));
    write(here("s-2.jsonl"));
    const [first] = find();
    expect(first).toEqual({ file: here("s-1.jsonl"), path: main, state: stateOf(main) });
    expect(filesOf().slice(1).sort()).toEqual([
      here("s-1/subagents/agent-a.jsonl"),
      here("s-1/subagents/agent-a.meta.json"),
      here("s-1/subagents/agent-b.jsonl"),
      here("s-1/tool-results/x.txt"),
    ]);
  });

  it("is that of the directory where the agent is to work, if there are several", () => {
    write("projects/-aaa/s-1.jsonl");
    write("projects/-aaa/s-1/subagents/agent-a.jsonl");
    write("projects/-zzz/s-1.jsonl");
    write(here("s-1.jsonl"));
    expect(filesOf()).toEqual([here("s-1.jsonl")]);
  });

  it("is that of another directory, with its own files, if there is none of this one", () => {
    write("projects/-other/s-1.jsonl");
    write("projects/-other/s-1/subagents/agent-a.jsonl");
    write(here("s-1/subagents/agent-b.jsonl"));
    expect(filesOf()).toEqual(["projects/-other/s-1.jsonl", "projects/-other/s-1/subagents/agent-a.jsonl"]);
  });

  it("is found where the agent works by the name of a link", () => {
    write("projects/-aaa/s-1.jsonl");
    write(here("s-1.jsonl"));
    symlinkSync(repository, join(home, "link"));
    expect(filesOf("s-1", join(home, "link"))).toEqual([here("s-1.jsonl")]);
  });

  it("is not that of which the id is only a part", () => {
    write(here("xs-1.jsonl"));
    write(here("s-1.jsonl.bak"));
    write(here("s-11.jsonl"));
    expect(find).toThrow(AgentSessionNotFoundError);
  });

  it("is not one that lies in a hidden directory", () => {
    write("projects/.trash/s-1.jsonl");
    expect(find).toThrow(AgentSessionNotFoundError);
  });

  it("changes its state whenever it is written to", () => {
    const path = write(here("s-1.jsonl"));
    const [first] = find();
    appendFileSync(path, "{}\n");
    expect(find()[0]?.state).not.toBe(first?.state);
  });
});

describe("a session that cannot be resumed", () => {
  const problem = (id?: string): string => {
    try {
      find(id);
      return "nothing";
    } catch (error) {
      expect(error).toBeInstanceOf(AgentSessionNotFoundError);
      expect(error).toMatchObject({ agent: "claude-code", sessionId: id ?? "s-1" });
      return String(error);
    }
  };

  it("is said to be missing, with where it was looked for", () => {
    expect(problem()).toContain(join(home, ".claude"));
    write(here("s-1.jsonl"));
    expect(problem("s-2")).toContain("there is no such session");
  });

  it("is a link, wherever it leads", () => {
    const target = write("elsewhere.jsonl");
    mkdirSync(join(home, ".claude", dirname(here("x"))), { recursive: true });
    symlinkSync(target, join(home, ".claude", here("s-1.jsonl")));
    expect(problem()).toContain("is not a regular file");
  });

  it("has a link among its other files", () => {
    write(here("s-1.jsonl"));
    write(here("s-1/subagents/agent-a.jsonl"));
    symlinkSync("/etc/passwd", join(home, ".claude", here("s-1/subagents/agent-b.jsonl")));
    expect(problem()).toContain("agent-b.jsonl is not a regular file");
  });

  it("is a directory", () => {
    mkdirSync(join(home, ".claude", here("s-1.jsonl")), { recursive: true });
    expect(problem()).toContain("is not a regular file");
  });

  it("is too large", () => {
    const path = write(here("s-1.jsonl"));
    truncateSync(path, MAX_FILE_BYTES);
    expect(problem()).toBe("nothing");
    truncateSync(path, MAX_FILE_BYTES + 1);
    expect(problem()).toContain("is larger than");
  });
});

describe("the directory of an agent's sessions", () => {
  const agents = [
    [claudeCode("m"), "CLAUDE_CONFIG_DIR", ".claude"],
    [codex("m"), "CODEX_HOME", ".codex"],
    [pi("a/b"), "PI_CODING_AGENT_DIR", ".pi/agent"],
    [opencode("a/b"), "XDG_DATA_HOME", ".local/share"],
  ].map(([provider, variable, inHome]) => ({ ...(provider as WithSessions), variable, inHome }));

  it.each(agents)("is below the home directory: $name", ({ sessions, inHome }) => {
    expect(hostDirectoryOf(sessions)).toBe(join(home, String(inHome)));
  });

  it.each(agents)("is the one that the environment names: $name", ({ sessions, variable }) => {
    process.env[String(variable)] = join(home, "elsewhere");
    expect(hostDirectoryOf(sessions)).toBe(join(home, "elsewhere"));
  });

  it.each(agents)("is not the one of an empty variable: $name", ({ sessions, variable, inHome }) => {
    process.env[String(variable)] = "";
    expect(hostDirectoryOf(sessions)).toBe(join(home, String(inHome)));
  });

  it("is where a session is looked for", () => {
    write(here("s-1.jsonl"));
    process.env["CLAUDE_CONFIG_DIR"] = join(home, "elsewhere");
    expect(find).toThrow(join(home, "elsewhere"));
    process.env["CLAUDE_CONFIG_DIR"] = join(home, ".claude");
    expect(filesOf()).toEqual([here("s-1.jsonl")]);
  });
});

describe("the path of a directory", () => {
  it("is the one that it really has", () => {
    symlinkSync(repository, join(home, "link"));
    expect(physicalPath(join(home, "link"))).toBe(repository);
  });

  it("stays what it is where there is none", () => {
    expect(physicalPath(join(home, "missing"))).toBe(join(home, "missing"));
    expect(stateOf(join(home, "missing"))).toBeUndefined();
  });
});

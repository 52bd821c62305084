import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { AgentIteration, AgentProgram, AgentProvider } from "../../../src/agents/contract.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";

/** Prompts that are anything but one harmless word. */
export const HOSTILE_PROMPTS = [
  "two words",
  'it\'s "quoted" `id` $(id) $HOME \\',
  "a; b | c > d & e",
  "line one\nline two\n",
  "--help",
  "-p",
  "--",
  "-",
  "@README.md",
  "!ls *glob* ~ #memo",
  "ünïcödé 🏜 \u2028",
  "",
];

const PRINT_ARGUMENTS = `() { for word; do printf '%s\\0' "$word"; done; }`;

/** The arguments that a program gets when `sh` runs it as the engine has it run. */
export const argumentsOf = (program: AgentProgram): string[] => {
  const [name = ""] = program.command;
  const { setup: _, ...alone } = program;
  return execFileSync("sh", ["-c", `${name} ${PRINT_ARGUMENTS}\n${commandLineOf(alone)}`], {
    encoding: "utf8",
  })
    .split("\0")
    .slice(0, -1);
};

export const commandOf = (agent: AgentProvider, iteration: Partial<AgentIteration> = {}) =>
  agent.buildCommand({ prompt: "Do it", iteration: 1, ...iteration });

/** What is added to the arguments by what is asked for besides the prompt. */
export const addedArguments = (agent: AgentProvider, iteration: Partial<AgentIteration>): string[] => {
  const usual = [...commandOf(agent).command];
  return [...commandOf(agent, iteration).command].filter((word) => !usual.includes(word));
};

export const interactionOf = (
  agent: AgentProvider,
  prompt: string | undefined,
  dangerouslySkipPermissions: boolean,
): AgentProgram => {
  const program = agent.interactiveCommand?.({
    prompt,
    dangerouslySkipPermissions,
    cwd: "/workspace/my repo",
  });
  if (program === undefined) throw new Error(`${agent.name} has no terminal interface`);
  return program;
};

/** The option that a factory complains about. */
export const refusedOption = (make: () => unknown): string | undefined => {
  try {
    make();
    return undefined;
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.option;
    throw error;
  }
};

const MODEL = "anthropic/claude-opus-4-8";

/** Servers of both kinds, with a secret each. */
export const MCP_SERVERS = {
  local: { command: 'say "hi"', args: ["$(id)", "it's ü"], env: { A_KEY: "first secret" } },
  remote: { url: "https://tools.example", headers: { "X-Key": "second secret" } },
};

/** What holds for the commands of every agent. */
export const describeCommands = (
  factory: (model: string, options?: never) => AgentProvider,
  promptWord: (prompt: string) => string = (prompt) => prompt,
): void => {
  const agent = factory(MODEL);
  const bad = (option: string, value: unknown) =>
    refusedOption(() => factory(MODEL, { [option]: value } as never));

  describe("the prompt of an iteration", () => {
    it.each(HOSTILE_PROMPTS)("is given on stdin as it is: %j", (prompt) => {
      expect(commandOf(agent, { prompt }).stdin).toBe(prompt);
    });

    it.each([...HOSTILE_PROMPTS, "/clear"])("changes nothing else: %j", (prompt) => {
      const { stdin: _, ...rest } = commandOf(agent, { prompt });
      const { stdin: __, ...usual } = commandOf(agent);
      expect(rest).toEqual(usual);
    });

    it("may have a megabyte", () => {
      const prompt = "0123456789abcdef".repeat(65_536);
      const { stdin, ...rest } = commandOf(agent, { prompt });
      expect(stdin).toBe(prompt);
      expect(JSON.stringify(rest).length).toBeLessThan(10_000);
    });

    it("is the same in every iteration", () => {
      expect(commandOf(agent, { iteration: 7 })).toEqual(commandOf(agent));
    });
  });

  describe("the terminal interface", () => {
    it.each(HOSTILE_PROMPTS)("gets the prompt as one argument, the last: %j", (prompt) => {
      for (const skipsPermissions of [true, false]) {
        const without = argumentsOf(interactionOf(agent, undefined, skipsPermissions));
        const words = argumentsOf(interactionOf(agent, prompt, skipsPermissions));
        expect(words.slice(0, without.length)).toEqual(without);
        expect(
          words
            .slice(without.length)
            .filter((word) => word !== "--" || prompt === "--")
            .at(-1),
        ).toBe(promptWord(prompt));
        expect(words.length - without.length).toBeLessThanOrEqual(2);
      }
    });

    it("on the host has no configuration written and no env vars set", () => {
      const program = interactionOf(agent, "Do it", false);
      expect(program).not.toHaveProperty("setup");
      expect(program).not.toHaveProperty("env");
    });

    it("on the host asks for nothing that skips permissions", () => {
      expect(JSON.stringify(interactionOf(agent, "Do it", false))).not.toMatch(
        /skip|bypass|yolo|auto|danger|sandbox|permission/i,
      );
    });
  });

  describe("an option that makes no sense", () => {
    it.each([undefined, null, "", "  ", 7, "--model", "-m", {}])("is refused: the model %j", (model) => {
      expect(refusedOption(() => factory(model as string))).toBe("model");
    });

    it.each(["yes", 1, null, "false"])("is refused: captureSessions %j", (value) => {
      expect(bad("captureSessions", value)).toBe("captureSessions");
    });
  });

  if (agent.acceptsMcpServers) {
    it("secrets of servers of tools are where only the agent can read them", () => {
      const { command, setup, env } = commandOf(agent, { mcpServers: MCP_SERVERS });
      expect(JSON.stringify([command, setup])).not.toContain("secret");
      expect(JSON.stringify(env)).toMatch(/first secret.*second secret/);
    });
  }

  it("the caller's env vars are declared beside the agent's own", () => {
    const options = { env: { MY_VARIABLE: "a" } } as never;
    const { env } = factory(MODEL, options);
    expect(env).toEqual({ ...agent.env, MY_VARIABLE: "a" });
    expect(Object.values(agent.env ?? {})).toEqual(Object.keys(agent.env ?? {}).map(() => undefined));
  });

  it("every credential is an env var that it declares", () => {
    expect(Object.keys(agent.env ?? {})).toEqual(
      expect.arrayContaining([...(agent.installation?.credentials ?? [])]),
    );
    expect(agent.installation?.credentials).not.toEqual([]);
  });

  it("sessions are captured unless the caller says otherwise", () => {
    expect(agent.captureSessions).toBe(true);
    expect(factory(MODEL, { captureSessions: false } as never).captureSessions).toBe(false);
  });

  it("its Dockerfile lines install the version that the recordings are of", () => {
    expect(agent.installation?.dockerfile.join("\n")).toMatch(/@\d+\.\d+\.\d+$/);
  });
};

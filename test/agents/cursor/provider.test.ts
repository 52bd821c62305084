import { describe, expect, it } from "vitest";
import { cursor } from "../../../src/agents/cursor/provider.ts";
import {
  commandOf,
  HOSTILE_PROMPTS,
  interactionOf,
  refusedOption,
} from "../../helpers/agents/agentCommands.ts";
import { runAgentLine } from "../../helpers/agents/agentLines.ts";
import { pinnedPackage } from "../../helpers/agents/agents.ts";

const agent = cursor("composer-2");

/** What a stand-in for Cursor's CLI is given: the real one is not on npm. */
const started = (prompt: string, options?: Parameters<typeof runAgentLine>[2]) =>
  runAgentLine(commandOf(agent, { prompt }), "cursor-agent", options);

const argumentsOf = (prompt: string) => started(prompt).programs[0]?.args ?? [];

describe("the command of Cursor's CLI", () => {
  it("prints its events, and asks nothing", () => {
    expect(argumentsOf("Do it")).toEqual([
      ...["--print", "--output-format", "stream-json", "--force", "--model", "composer-2"],
      "Do it",
    ]);
  });

  it.each(HOSTILE_PROMPTS)("has the prompt as its last argument, never as an option: %j", (prompt) => {
    const { programs, leftFiles } = started(prompt);
    // A shell takes the ends of lines off the end of what it reads.
    const words = prompt.replace(/\n+$/, "");
    expect(programs[0]?.args.at(-1)).toBe(words.startsWith("-") ? ` ${words}` : words);
    expect(programs[0]?.stdin).toBe("");
    expect(leftFiles).toEqual([]);
  });

  it("has a prompt of 100 KB as its last argument", () => {
    const prompt = "x".repeat(100_000);
    expect(argumentsOf(prompt).at(-1)).toBe(prompt);
  });

  it.each([100_001, 1024 * 1024])(
    "has a prompt of %d bytes in a file, and is told to read all of it",
    (size) => {
      const prompt = "é".repeat(size / 2) + "x".repeat(size % 2);
      const { programs, leftFiles } = started(prompt);
      const [{ args = [], files = {} } = {}] = programs;
      const [path = "", ...others] = Object.keys(files);
      expect(others).toEqual([]);
      expect(files[path]).toBe(prompt);
      expect(args.at(-1)).toContain(`in the file ${path}.`);
      expect(args.at(-1)).toContain("completely");
      expect(leftFiles).toEqual([]);
    },
  );

  it("has its exit code", () => {
    expect(started("Do it", { code: 7 }).exitCode).toBe(7);
  });

  it("has no sessions, and does not claim to report usage", () => {
    for (const missing of ["sessions", "reportsUsage"]) {
      expect(agent).not.toHaveProperty(missing);
    }
  });

  it.each([undefined, null, "", " ", 7, "--model"])("refuses the model %j", (model) => {
    expect(refusedOption(() => cursor(model as string))).toBe("model");
  });

  it("declares the caller's env vars beside its own", () => {
    expect(cursor("a", { env: { MINE: "x" } }).env).toEqual({ CURSOR_API_KEY: undefined, MINE: "x" });
  });

  it("is installed in the version of the tests", () => {
    expect(agent.installation?.dockerfile).toEqual([`RUN npm install --global ${pinnedPackage("cursor")}`]);
  });
});

describe("the terminal interface of Cursor's CLI", () => {
  it("asks nothing in a sandbox", () => {
    expect(interactionOf(agent, "Do it", true).command).toEqual([
      ...["cursor-agent", "--force", "--model", "composer-2", "Do it"],
    ]);
  });

  it("asks on the host, and takes no prompt for an option", () => {
    expect(interactionOf(agent, "--force", false)).toEqual({
      command: ["cursor-agent", "--model", "composer-2", " --force"],
    });
  });

  it("may start without a prompt", () => {
    expect(interactionOf(agent, undefined, false).command).toEqual(["cursor-agent", "--model", "composer-2"]);
  });
});

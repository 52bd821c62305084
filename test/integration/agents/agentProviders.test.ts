import { expect, it } from "vitest";
import { type AgentProvider, createSandbox } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";

const bug = () => {
  throw new TypeError("their bug");
};

/** Runs agents one after the other, and tells how each run ended: with nothing, or with its error. */
const endings = async (agents: Readonly<Record<string, AgentProvider>>) => {
  await using sandbox = await createSandbox({
    ...{ branch: "agent/work", sandbox: testIsolated(), cwd: temporaryRepository() },
  });
  const ends: Record<string, unknown> = {};
  for (const [name, agent] of Object.entries(agents)) {
    ends[name] = await sandbox.run({ agent, prompt: "x", completionTimeoutMs: 200 }).then(
      () => undefined,
      (error: unknown) => error,
    );
  }
  return ends;
};

it("an agent provider of another author that throws is named, and what it was doing", async () => {
  const theirs = (wrong: Partial<AgentProvider>): AgentProvider => ({
    name: "theirs",
    buildCommand: () => ({ command: "echo hi", stdin: "" }),
    createParser: () => () => [],
    ...wrong,
  });
  const threwWhile = (what: string) => ({
    ...{ name: "AgentFailedError", agent: "theirs" },
    message: expect.stringContaining(`its agent provider failed while ${what}: their bug`),
  });
  expect(
    await endings({ building: theirs({ buildCommand: bug }), reading: theirs({ createParser: () => bug }) }),
  ).toMatchObject({
    building: threwWhile("building the command"),
    reading: threwWhile("reading the output"),
  });
});

it("an agent that reports its own end has succeeded or failed as it says, and failed when it says nothing; it is not waited for when it lingers", async () => {
  const reporting = (command: string): AgentProvider => ({
    name: "reporting",
    reportsResult: true,
    buildCommand: () => ({ command, stdin: "" }),
    createParser: () => (line) => {
      if (line === "OK") return [{ type: "result", isError: false }];
      if (line === "BAD") return [{ type: "result", isError: true, message: "the model refused" }];
      return [{ type: "text", text: `${line}\n` }];
    },
  });
  expect(
    await endings({
      good: reporting("echo OK; exit 1"),
      bad: reporting("echo BAD; exit 0"),
      silent: reporting("echo hello; exit 0"),
      lingering: reporting("echo OK; sleep 1000"),
    }),
  ).toEqual({
    good: undefined,
    bad: expect.objectContaining({ message: expect.stringContaining("the model refused") }),
    silent: expect.objectContaining({
      message: expect.stringContaining("ended without reporting the end of its turn"),
    }),
    lingering: undefined,
  });
});

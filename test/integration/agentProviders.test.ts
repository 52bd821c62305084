import { describe, expect, it } from "vitest";
import { type AgentProvider, run } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../helpers/repository.ts";

const bug = () => {
  throw new TypeError("their bug");
};

describe("an agent provider of somebody else's that throws", () => {
  it.each<[string, Partial<AgentProvider>]>([
    ["building the command", { buildCommand: bug }],
    ["reading the output", { createParser: () => bug }],
  ])("while %s is named", async (what, wrong) => {
    const agent: AgentProvider = {
      name: "theirs",
      buildCommand: () => ({ command: "echo hi", stdin: "" }),
      createParser: () => () => [],
      ...wrong,
    };
    const error = await run({
      agent,
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      prompt: "x",
    }).catch((reason) => reason);
    expect(error).toMatchObject({ name: "AgentFailedError", agent: "theirs" });
    expect(error.message).toContain(`threw while ${what} (TypeError: their bug)`);
  });
});

describe("an agent that reports its own end", () => {
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
  const outcome = (command: string) =>
    run({
      agent: reporting(command),
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      prompt: "x",
      completionTimeoutSeconds: 0.2,
    }).then(
      () => "success",
      (error) => error.message as string,
    );

  it("has succeeded when it says so, whatever its exit code", async () => {
    expect(await outcome("echo OK; exit 1")).toBe("success");
  });

  it("has failed when it says so, even with exit code 0", async () => {
    expect(await outcome("echo BAD; exit 0")).toContain("the model refused");
  });

  it("has failed when it says nothing", async () => {
    expect(await outcome("echo hello; exit 0")).toContain("ended without saying that its turn was over");
  });

  it("is not waited for when it lingers after its turn", async () => {
    expect(await outcome("echo OK; sleep 1000")).toBe("success");
  });
});

import { expect, it } from "vitest";
import { AgentAuthenticationError, AgentRateLimitError } from "../../src/index.ts";
import type { Turn } from "../helpers/modelServer/script.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { failureWith, itHasMcpServers, itIsMissed, itWorks } from "./otherAgents.ts";
import { COMMITTING, runReal, type SandboxName, scriptedModel, temporaryHome } from "./realAgents.ts";

const agent = "copilot";
const failure = (sandbox: SandboxName, ...turns: readonly Turn[]) => failureWith(agent, sandbox, turns);

for (const sandbox of ["docker", "bubblewrap"] as const) {
  describeWith(["copilot", sandbox], `the real copilot in ${sandbox}`, () => {
    itWorks(agent, sandbox, undefined);

    it("fails with its own words when its key is refused", async () => {
      const { error } = await failure(sandbox, { error: 401, message: "the scripted key is bad" });
      expect(error).toBeInstanceOf(AgentAuthenticationError);
      expect(error).toMatchObject({ problem: expect.stringContaining("(HTTP 401)") });
    });
  });
}

describeWith(["copilot", "bubblewrap"], "the real copilot", () => {
  itHasMcpServers(agent, "greeter-greet");

  it("is stopped when it has met a rate limit again and again, and what it did before is kept", async () => {
    const [commits] = COMMITTING as readonly Turn[];
    const { error, cwd } = await failure("bubblewrap", commits ?? {}, {
      error: 429,
      message: "slow down",
      retryAfter: 1,
    });
    expect(error).toBeInstanceOf(AgentRateLimitError);
    expect(error).toMatchObject({ problem: "slow down" });
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Add a greeting");
  });

  it("has a prompt of a megabyte", async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel([{ text: "Read. <promise>COMPLETE</promise>" }]);
    const prompt = `${"0123456789abcdef".repeat(65_536)} is the end`;
    await runReal({ agent, sandbox: "bubblewrap", model, cwd, options: { prompt } });
    expect(JSON.stringify(model.requests.map(({ body }) => body))).toContain(prompt);
  });

  itIsMissed(agent);
});

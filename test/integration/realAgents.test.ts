import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import {
  AGENTS,
  type AgentName,
  COMMITTING,
  listening,
  runReal,
  type SandboxName,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

const sandboxes: readonly SandboxName[] = ["docker", "bubblewrap"];

for (const agent of Object.keys(AGENTS) as AgentName[]) {
  for (const sandbox of sandboxes) {
    describeWith([AGENTS[agent].runtime, sandbox], `the real ${agent} in ${sandbox}`, () => {
      it("creates a file, commits it and says the signal; its session is resumed by a second run", async () => {
        const home = temporaryHome();
        const cwd = temporaryRepository();
        const model = await scriptedModel([
          ...COMMITTING,
          { text: "I remember. <promise>COMPLETE</promise>" },
        ]);
        const { events, logging } = listening();
        const first = await runReal({ agent, sandbox, model, cwd, options: { logging } });
        expect(first.warnings).toEqual([]);
        expect(first.commits).toHaveLength(1);
        expect(git(cwd, "show", "agent/work:hello.txt")).toBe("hello");
        expect(first.completionSignal).toBe("<promise>COMPLETE</promise>");
        expect(first.stdout).toContain("On it.\n");
        expect(events.map(({ type }) => type)).toEqual(
          expect.arrayContaining(["sessionId", "text", "toolCall", "toolResult", "usage", "result"]),
        );
        const [iteration] = first.iterations;
        expect(iteration?.sessionId).toBeTruthy();
        expect(iteration?.usage?.outputTokens).toBe(2 * 34);
        const { sessionFilePath = "" } = iteration ?? {};
        expect(sessionFilePath.startsWith(home)).toBe(true);
        const session = readFileSync(sessionFilePath, "utf8");
        expect(session).toContain(cwd);
        expect(session).not.toContain("/sanddune/repo");

        const second = await first.resume("What did you do?");
        expect(second.iterations[0]?.sessionId).toBe(iteration?.sessionId);
        expect(second.stdout).toContain("I remember.");
        const lastRequest = turnsOf(model).at(-1) ?? "";
        expect(lastRequest).toContain("Greet the world, and commit.");
        expect(lastRequest).toContain("What did you do?");
        expect(lastRequest).not.toContain(cwd);
        expect(second.iterations[0]?.usage?.outputTokens).toBe(34);
        expect(second.iterations[0]?.sessionFilePath).toBe(sessionFilePath);
        expect(readFileSync(sessionFilePath, "utf8")).toContain("I remember.");
        expect(leftovers(cwd)).toEqual([]);
      }, 240_000);
    });
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { codex } from "../../src/index.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { runReal, scriptedModel, temporaryHome } from "./realAgents.ts";

describeWith(["codex", "bubblewrap"], "the real codex with a subagent", () => {
  it("has the transcript of its subagent captured beside its own", async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel([
      { calls: [{ name: "spawn_agent", input: { message: "Look around, and report." } }] },
      { text: "Reported. <promise>COMPLETE</promise>" },
    ]);
    const result = await runReal({
      agent: "codex",
      sandbox: "bubblewrap",
      model,
      cwd,
      provider: () => codex("gpt-6"),
    });
    expect(result.warnings).toEqual([]);
    const { sessionId = "", sessionFilePath = "" } = result.iterations[0] ?? {};
    const directory = dirname(sessionFilePath);
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(JSON.parse(file.split("\n")[0] ?? "").payload).toMatchObject({ session_id: sessionId, cwd });
      expect(file).not.toContain("/sanddune/repo");
    }
  });
});

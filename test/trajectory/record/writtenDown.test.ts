import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { BRANCH, checkpointsOf, directoryOf, entriesOf, record } from "../recording.ts";

describe("the file of a trajectory", () => {
  it("describes each event in order, each line by itself", async () => {
    const cwd = temporaryRepository();
    const base = git(cwd, "rev-parse", "HEAD");
    const result = await record(cwd, ["echo a > a.txt", "echo done"]);
    expect(result.trajectoryPath).toBe(join(directoryOf(cwd, result), "trajectory.jsonl"));
    const entries = entriesOf(directoryOf(cwd, result));
    const told = entries.map((entry) => (entry.type === "event" ? entry.event.type : entry.type));
    // The agent goes on meanwhile.
    expect(told.filter((type) => type !== "checkpoint")).toEqual([
      "begun",
      "iteration",
      ...["toolCall", "turnStart", "action"],
      ...["toolCall", "toolResult", "turnStart", "action", "unchanged"],
      "ended",
    ]);
    expect(told.indexOf("checkpoint")).toBeGreaterThan(told.indexOf("action"));
    expect(told.indexOf("checkpoint")).toBeLessThan(told.lastIndexOf("action"));
    expect(entries[0]).toMatchObject({ runId: result.runId, agent: "scripted", base });
    expect(entries.at(-1)).toMatchObject({ type: "ended", state: "succeeded" });
  });

  it("records no secrets, and cuts endless output of an agent", async () => {
    const cwd = temporaryRepository();
    const secret = "correct-horse-battery";
    const result = await record(
      cwd,
      [
        "echo $TOKEN",
        `echo ${secret}; ${secret} 2>/dev/null`,
        "head -c 3000000 /dev/zero | tr '\\0' x; echo",
      ],
      { env: { TOKEN: secret } },
    );
    const text = readFileSync(result.trajectoryPath ?? "", "utf8");
    expect(text).toContain("[redacted TOKEN]");
    expect(text).not.toContain(secret);
    expect(text).toContain("xxxxx");
    expect(text.length).toBeLessThan(50_000);
  });

  it("continues if its file cannot be written, and reports it", async () => {
    const cwd = temporaryRepository();
    const result = await run({
      agent: scripted([{ commit: "Work", files: { "a.txt": "a\n" } }]),
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
      hooks: {
        // The directory of the run is there by now.
        host: {
          onSandboxReady: [{ command: 'for d in ../../runs/*/; do mkdir "$d/trajectory.jsonl"; done' }],
        },
      },
    });
    expect(result.commits).toHaveLength(1);
    expect(result.warnings.join()).toContain("The trajectory is not complete");
    expect(Object.keys(checkpointsOf(cwd, result))).toEqual(["1"]);
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Output, run, StructuredOutputError, scripted } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";

const verdict = Output.object({ tag: "verdict", schema: z.object({ score: z.number() }) });

describe("structured output of a run", () => {
  it("is typed, and the last tag of the last iteration wins", async () => {
    const result = await run({
      agent: scripted(({ iteration }) => [
        { text: `<verdict>{"score": ${iteration}}</verdict>` },
        { shell: `echo '<verdict>{"score": 99}</verdict>'` },
      ]),
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      maxIterations: 2,
      prompt: "Judge",
      output: verdict,
    });
    const { score }: { score: number } = result.output;
    expect(score).toBe(2);
  });

  it("that is wrong fails the run: commits are kept on their branch, and nothing is merged", async () => {
    const cwd = temporaryRepository();
    const before = git(cwd, "rev-parse", "main");
    const error = await run({
      agent: scripted([
        { commit: "Work", files: { "a.txt": "a" } },
        { text: '<verdict>{"score": "high"}</verdict>' },
      ]),
      sandbox: testIsolated(),
      cwd,
      branchStrategy: { type: "merge-to-head" },
      prompt: "Judge",
      output: verdict,
    }).catch((reason) => reason);

    expect(error).toBeInstanceOf(StructuredOutputError);
    expect(error.text).toBe('{"score": "high"}');
    expect(error.commits).toHaveLength(1);
    expect(git(cwd, "rev-parse", error.branch)).toBe(error.commits[0].sha);
    expect(git(cwd, "rev-parse", "main")).toBe(before);
  });

  it("that is missing fails the run with the agent's text", async () => {
    const cwd = temporaryRepository();
    const error = await run({
      agent: scripted([{ text: "I forgot." }]),
      sandbox: testIsolated(),
      cwd,
      branchStrategy: { type: "branch", branch: "b" },
      prompt: "Judge",
      output: Output.string({ tag: "summary" }),
    }).catch((reason) => reason);

    expect(error).toMatchObject({ name: "StructuredOutputError", text: "I forgot.\n", tag: "summary" });
    expect(leftovers(cwd)).toEqual([]);
  });
});

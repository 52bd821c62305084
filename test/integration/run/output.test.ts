import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AgentProvider,
  command,
  Output,
  run,
  StructuredOutputError,
  scripted,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

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

/** Answers wrongly, and as many times as it is asked again; then as it should. Tells what it was asked. */
const forgetful = (wrongAnswers: number): AgentProvider => ({
  ...command("true"),
  name: "forgetful",
  captureSessions: false,
  sessions: { directory: { inHome: ".forgetful" }, files: (id) => [`${id}.jsonl`], place: (file) => file },
  buildCommand: ({ prompt, resume, iteration }) => ({
    command: `cat >> asked.txt; echo >> asked.txt; echo session-1
[ ${iteration} -eq 1 ] || [ ${JSON.stringify(resume?.sessionId ?? "")} = session-1 ] || exit 9
if [ ${iteration} -gt ${wrongAnswers} ]; then git add .; git commit -qm Work; echo '<verdict>{"score": 7}</verdict>'
else echo '<verdict>{"score": "high"}</verdict>'; fi`,
    stdin: prompt,
  }),
  createParser: () => (line) =>
    line === "session-1" ? [{ type: "sessionId", sessionId: line }] : [{ type: "text", text: `${line}\n` }],
});

describe("an answer that is wrong", () => {
  const asking = (agent: AgentProvider, maxRetries: number, cwd = temporaryRepository()) =>
    run({
      agent,
      sandbox: testIsolated(),
      cwd,
      branchStrategy: { type: "merge-to-head" },
      prompt: "Judge",
      output: Output.object({ tag: "verdict", schema: z.object({ score: z.number() }), maxRetries }),
    });

  it("is corrected by the agent in its own session, and what it commits then is merged", async () => {
    const cwd = temporaryRepository();
    const { output, iterations, commits } = await asking(forgetful(2), 2, cwd);
    expect(output).toEqual({ score: 7 });
    expect(iterations.map(({ sessionId }) => sessionId)).toEqual(["session-1", "session-1", "session-1"]);
    expect(commits).toHaveLength(1);
    const asked = git(cwd, "show", "main:asked.txt");
    expect(asked).toMatch(/^Judge\nYour answer in <verdict> is not valid: it does not satisfy the schema/);
    expect(asked.match(/Write the whole answer again/g)).toHaveLength(2);
  });

  it("fails the run once it has been asked for often enough", async () => {
    const error = await asking(forgetful(3), 2).catch((reason) => reason);
    expect(error).toBeInstanceOf(StructuredOutputError);
    expect(error.iterations).toHaveLength(3);
  });

  it("is not asked for again if the caller's schema threw", async () => {
    const schema = z.object({ score: z.any() }).transform(() => {
      throw new Error("a bug");
    });
    const error = await run({
      ...{ agent: forgetful(0), sandbox: testIsolated(), cwd: temporaryRepository(), prompt: "Judge" },
      output: Output.object({ tag: "verdict", schema, maxRetries: 2 }),
    }).catch((reason) => reason);
    expect(error).toMatchObject({ problem: expect.stringContaining("its schema threw"), iterations: [{}] });
  });

  it("cannot be corrected by an agent without sessions, which is refused before anything starts", async () => {
    await expect(asking(scripted([{ text: "x" }]), 1)).rejects.toMatchObject({
      name: "InvalidOptionsError",
      option: "output.maxRetries",
    });
  });
});

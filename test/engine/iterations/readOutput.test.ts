import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readOutput } from "../../../src/engine/iterations/readOutput.ts";
import { Output, type OutputDefinition, StructuredOutputError } from "../../../src/index.ts";
import { Redactor } from "../../../src/redaction/redactor.ts";

const SCHEMAS = {
  zod: z.object({ approved: z.boolean(), notes: z.array(z.string()).default([]) }),
  valibot: v.object({ approved: v.boolean(), notes: v.optional(v.array(v.string()), []) }),
};

const read = (definition: OutputDefinition, content: string | undefined, agentText: string) =>
  readOutput(definition, {
    found: content === undefined ? undefined : { content },
    agentText,
    redactor: new Redactor(new Map()),
  });

const refusal = (promise: Promise<unknown>): Promise<StructuredOutputError> =>
  promise.then(
    () => {
      throw new Error("it was accepted");
    },
    (error) => {
      expect(error).toBeInstanceOf(StructuredOutputError);
      return error;
    },
  );

describe.each(Object.entries(SCHEMAS))("output with a schema of %s", (_, schema) => {
  const definition = Output.object({ tag: "review", schema });

  it("is what the schema makes of the JSON", async () => {
    expect(await read(definition, ' {"approved": true}\n', "")).toEqual({ approved: true, notes: [] });
  });

  it("may stand in a fenced block", async () => {
    const content = '\n```json\n{"approved": false, "notes": ["`x`"]}\n```\n';
    expect(await read(definition, content, "")).toEqual({ approved: false, notes: ["`x`"] });
  });

  it("is refused with what the schema objects to, and keeps the text", async () => {
    const error = await refusal(read(definition, '{"approved": "yes", "notes": [1]}', ""));
    expect(error.text).toBe('{"approved": "yes", "notes": [1]}');
    expect(error.issues.map(({ path }) => path.join("."))).toEqual(["approved", "notes.0"]);
    expect(error.message).toContain("approved");
  });

  it("is refused when it is not JSON, and keeps the text", async () => {
    const error = await refusal(read(definition, "LGTM", ""));
    expect(error).toMatchObject({ tag: "review", text: "LGTM", issues: [] });
    expect(error.message).toContain("not JSON");
  });
});

describe("output", () => {
  it("is the trimmed text without a schema", async () => {
    expect(await read(Output.string({ tag: "summary" }), "\n  All good. \n", "")).toBe("All good.");
  });

  it("that is missing is an error with the end of what the agent said instead", async () => {
    const error = await refusal(read(Output.string({ tag: "summary" }), undefined, "I forgot."));
    expect(error).toMatchObject({ tag: "summary", text: "I forgot." });
    expect(error.message).toContain("<summary>");
  });

  it("waits for a schema that checks asynchronously", async () => {
    const schema = z.string().refine(async (value) => value === "ok", "must be ok");
    expect(await read(Output.object({ tag: "x", schema }), '"ok"', "")).toBe("ok");
    expect((await refusal(read(Output.object({ tag: "x", schema }), '"no"', ""))).issues).toEqual([
      { message: "must be ok", path: [] },
    ]);
  });

  it("is refused when its schema throws", async () => {
    const schema = z.string().transform(() => {
      throw new Error("the schema is broken");
    });
    const error = await refusal(read(Output.object({ tag: "x", schema }), '"ok"', ""));
    expect(error.message).toContain("the schema is broken");
    expect(error.cause).toBeInstanceOf(Error);
  });
});

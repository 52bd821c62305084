import type { Tool } from "@modelcontextprotocol/sdk/types.js";

const LEFT_OUT = {
  type: "integer",
  description: "How many more tests there are, for which there is no room here. Left out if there are none.",
};

const PARAMETER = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["string", "number", "boolean"] },
    description: { type: "string" },
    default: { type: ["string", "number", "boolean"], description: "Without it, a value has to be passed." },
  },
  required: ["type"],
};

const DESCRIPTION = {
  type: "object",
  properties: {
    path: { type: "string" },
    description: { type: "string" },
    parameters: { type: "object", additionalProperties: PARAMETER },
    isSuite: {
      type: "boolean",
      description:
        "It stands for all tests of a suite. Their paths begin with this one, and are known once they have run.",
    },
  },
  required: ["path"],
};

const RESULT = {
  type: "object",
  properties: {
    path: { type: "string" },
    passed: { type: "boolean" },
    durationMs: { type: "number" },
    message: { type: "string", description: "Why it failed." },
  },
  required: ["path", "passed", "durationMs"],
};

export const LIST_TESTS = "list_tests";
export const RUN_TESTS = "run_tests";

/** Where nothing else is said. */
const ON_FILES = "They see the files as they are now.";

/** What a client is told about the tools. `note` is what an agent has to know before it runs tests. */
export const toolsFor = (note = ON_FILES): Tool[] => [
  {
    name: LIST_TESTS,
    title: "List the tests",
    description:
      "Lists the tests that your work is checked by: their paths, what they are about, and the parameters they take. Runs nothing.",
    inputSchema: { type: "object", properties: {} },
    outputSchema: {
      type: "object",
      properties: { tests: { type: "array", items: DESCRIPTION }, testsLeftOut: LEFT_OUT },
      required: ["tests"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: RUN_TESTS,
    title: "Run tests",
    description: `Runs tests of your work, and says which have passed and why the others have failed. ${note} Call it after a change, and until everything passes.`,
    inputSchema: {
      type: "object",
      properties: {
        test_path: {
          type: "string",
          description:
            'The path of a test as list_tests tells it, or the beginning of several up to a "/". All tests are run without it.',
        },
        parameters: {
          type: "object",
          description: "Values by name for the parameters of the tests: strings, numbers, true or false.",
          additionalProperties: true,
        },
      },
    },
    outputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "What was asked for; empty for all tests." },
        passed: { type: "integer" },
        failed: { type: "integer" },
        total: { type: "integer" },
        tests: { type: "array", items: RESULT, description: "Those that failed come first." },
        error: {
          type: ["string", "null"],
          description: "Why there are no results, or not all of them; null if there are all.",
        },
        testsLeftOut: LEFT_OUT,
      },
      required: ["path", "passed", "failed", "total", "tests", "error"],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

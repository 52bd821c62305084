import type { Tool } from "@modelcontextprotocol/sdk/types.js";

const LEFT_OUT = {
  type: "integer",
  description: "How many tests are left out of the list. Absent if there are none.",
};

const PARAMETER = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["string", "number", "boolean"] },
    description: { type: "string" },
    default: { type: ["string", "number", "boolean"], description: "Without it, a value is required." },
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
        "An entry for a whole suite. The paths of its tests begin with this one, and are known once it has run.",
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

/** The default note. */
const ON_FILES = "They see the files as they are now.";

/** The descriptions of the tools. `note` is for the agent to read before it runs tests. */
export const toolsFor = (note = ON_FILES): Tool[] => [
  {
    name: LIST_TESTS,
    title: "List the tests",
    description: "Lists the tests for your work: their paths, descriptions and parameters. Runs nothing.",
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
    description: `Runs tests of your work, and reports which passed and why the others failed. ${note} Call it after each change, until all tests pass.`,
    inputSchema: {
      type: "object",
      properties: {
        test_path: {
          type: "string",
          description:
            'A path from list_tests, or the beginning of several up to a "/". Without it, all tests are run.',
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
        path: { type: "string", description: "The requested path; empty for all tests." },
        passed: { type: "integer" },
        failed: { type: "integer" },
        total: { type: "integer" },
        tests: { type: "array", items: RESULT, description: "Failed tests come first." },
        error: {
          type: ["string", "null"],
          description: "Why results are missing; null if none are.",
        },
        testsLeftOut: LEFT_OUT,
      },
      required: ["path", "passed", "failed", "total", "tests", "error"],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

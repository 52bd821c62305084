import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../../tools/messageOf.ts";
import { shorten } from "../../tools/shorten.ts";
import type { EnvironmentClient } from "../client/client.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";
import { describeResults } from "../results/describeResults.ts";
import { boundedResults, boundedSchema } from "./boundedContent.ts";
import { describeTests } from "./describeTests.ts";
import { readRunArguments } from "./runArguments.ts";
import { LIST_TESTS, RUN_TESTS } from "./tools.ts";

/** The text of an answer: enough for some failures, and small in a conversation. */
const MAX_TEXT_LENGTH = 8000;

export interface CallContext {
  readonly client: EnvironmentClient;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TestProgress) => void;
}

type Arguments = Readonly<Record<string, unknown>> | undefined;

const answer = (text: string, structuredContent: EnvironmentSchema | TestResults): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: { ...structuredContent },
});

const failure = (error: unknown): CallToolResult => ({
  content: [{ type: "text", text: shorten(messageOf(error), MAX_TEXT_LENGTH) }],
  isError: true,
});

const listTests = async ({ client, signal }: CallContext): Promise<CallToolResult> => {
  const schema = await client.schema({ signal });
  return answer(describeTests(schema, MAX_TEXT_LENGTH), boundedSchema(schema));
};

const runTests = async (given: Arguments, { client, ...options }: CallContext): Promise<CallToolResult> => {
  const { testPath, parameters } = readRunArguments(given);
  const results = await client.run(testPath, { parameters, ...options });
  return answer(describeResults(results, MAX_TEXT_LENGTH), boundedResults(results));
};

const TOOLS = new Map<string, (given: Arguments, context: CallContext) => Promise<CallToolResult>>([
  [LIST_TESTS, (_, context) => listTests(context)],
  [RUN_TESTS, runTests],
]);

/**
 * Performs a call of a tool. Failed tests are an answer. If the tests could not be run, the answer is an error with a text, so that
 * the agent can correct a wrong path. Resolves with `undefined` if there is no such tool.
 */
export const callTool = async (
  name: string,
  given: Arguments,
  context: CallContext,
): Promise<CallToolResult | undefined> => TOOLS.get(name)?.(given, context).catch(failure);

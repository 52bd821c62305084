import { type JsonObject, parseJson, parseObject } from "../../tools/json/parseJson.ts";
import { isObject, isText } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { numberAt, objectAt, outputText, textAt } from "../shared/jsonLine.ts";
import { callId, SessionId } from "../shared/parserEvents.ts";
import { tolerant } from "../shared/tolerant.ts";

/** Copilot CLI waits as long as the server asks before it tries again. After this many rate limits in a row it is stopped. */
const MAX_RATE_LIMITS = 4;

/** The type of the line that is printed before Copilot CLI starts: it holds the id of the session. */
export const SESSION_LINE = "sanddune.session";

/** Events that are not reported: other events repeat their content as a whole. */
const SILENT = new Set([
  "assistant.idle",
  "assistant.intent",
  "assistant.message_delta",
  "assistant.message_start",
  "assistant.reasoning",
  "assistant.reasoning_delta",
  "assistant.server_tool_progress",
  "assistant.streaming_delta",
  "assistant.tool_call_delta",
  "assistant.turn_end",
  "assistant.turn_retry",
  "assistant.turn_start",
  "assistant.usage",
  "model.call_final_result",
  "model.call_finished",
  "model.call_start",
  "tool.execution_partial_result",
  "tool.execution_progress",
  "tool.shell_output",
  "tool.user_requested",
  "tool_search.activated",
]);
/** Events about the session. One is the prompt, which may contain a completion signal. */
const SILENT_FAMILIES =
  /^(capabilities|commands?|hook|mcp|permission|prompt_cache_break|sandbox|session|skill|subagent|system|user|workflow)\b/;

const STATUS_OF_TYPE: Readonly<Record<string, number>> = { authentication: 401, rate_limit: 429 };
const TOO_LONG = 413;

const statusOf = (error: JsonObject, message: string): number | undefined =>
  STATUS_OF_TYPE[textAt(error, "errorType") ?? ""] ??
  numberAt(error, "statusCode") ??
  (/prompt as too long/.test(message) ? TOO_LONG : undefined);

/** The message in the server's answer to a failed request. */
const wordsOf = (answer: string): string => {
  const value = parseJson(answer);
  if (isText(value)) return value;
  return (isObject(value) ? textAt(value, "message") : undefined) ?? answer;
};

const toolEvent = (type: string, data: JsonObject): AgentEvent => {
  const named = callId(data, "toolCallId");
  if (type === "tool.execution_start") {
    return { type: "toolCall", name: textAt(data, "toolName") ?? "", input: data["arguments"], ...named };
  }
  const failed = data["success"] === false;
  const output = failed ? objectAt(data, "error")["message"] : objectAt(data, "result")["content"];
  // A failed command is reported as a success of the tool.
  const exitCode = numberAt(objectAt(data, "shellExecution"), "exitCode") ?? 0;
  return { type: "toolResult", output: outputText(output), ...named, isError: failed || exitCode !== 0 };
};

/** Reads the output of `copilot --output-format json`. */
export const copilotParser = (): AgentOutputParser => {
  const session = new SessionId();
  let lastError: string | undefined;
  let rateLimits = 0;

  const eventsOfFailure = (data: JsonObject): AgentEvent[] => {
    const message = wordsOf(textAt(data, "errorMessage") ?? "the model did not answer");
    const error = errorEvent({ message, status: numberAt(data, "statusCode"), willRetry: true });
    rateLimits = error.kind === "rateLimit" ? rateLimits + 1 : 0;
    if (rateLimits < MAX_RATE_LIMITS) return [error];
    return [
      { ...error, willRetry: false },
      { type: "result", isError: true, message, mustBeStopped: true },
    ];
  };

  const eventsOf = (type: string, event: JsonObject, line: string): readonly AgentEvent[] => {
    const data = objectAt(event, "data");
    switch (type) {
      case SESSION_LINE:
        return session.eventsFor(textAt(event, "sessionId"));
      case "assistant.message": {
        rateLimits = 0;
        const text = textAt(data, "content") ?? "";
        // A subagent talks to the agent: its completion signal is not the agent's.
        const isSubagent = typeof data["parentToolCallId"] === "string";
        return text === "" || isSubagent ? [] : [{ type: "text", text: `${text}\n` }];
      }
      case "tool.execution_start":
      case "tool.execution_complete":
        return [toolEvent(type, data)];
      case "model.call_failure":
        return eventsOfFailure(data);
      case "session.error": {
        const message = textAt(data, "message") ?? "it reported an error";
        lastError = message;
        return [errorEvent({ message, status: statusOf(data, message), willRetry: false })];
      }
      case "result": {
        const isError = event["exitCode"] !== 0;
        const message = lastError ?? `it ended with exit code ${event["exitCode"]}`;
        return [
          ...session.eventsFor(textAt(event, "sessionId")),
          { type: "result", isError, ...(isError && { message }) },
        ];
      }
      default:
        return SILENT.has(type) || SILENT_FAMILIES.test(type)
          ? []
          : [{ type: "raw", line, stream: "stdout" }];
    }
  };

  return tolerant((line, stream) => {
    if (stream === "stderr") {
      const [, message] = /^Error: (.*)$/.exec(line) ?? [];
      return [
        message === undefined ? { type: "raw", line, stream } : errorEvent({ message, willRetry: false }),
      ];
    }
    const event = parseObject(line);
    return event === undefined
      ? [{ type: "raw", line, stream }]
      : eventsOf(String(event["type"]), event, line);
  });
};

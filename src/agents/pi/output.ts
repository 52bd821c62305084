import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { objectAt, objectsAt, outputText, textAt, tokensAt } from "../shared/jsonLine.ts";
import { callId, sessionEvents } from "../shared/parserEvents.ts";
import { tolerant } from "../shared/tolerant.ts";

/** Events that are not reported: most repeat the content of other events. */
const SILENT = new Set([
  "agent_end",
  "agent_start",
  "compaction_end",
  "compaction_start",
  "entry_appended",
  "message_start",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "tool_execution_update",
  "turn_end",
  "turn_start",
]);

const usageOf = (usage: JsonObject): AgentEvent => ({
  type: "usage",
  usage: {
    inputTokens: tokensAt(usage, "input"),
    cacheCreationInputTokens: tokensAt(usage, "cacheWrite"),
    cacheReadInputTokens: tokensAt(usage, "cacheRead"),
    outputTokens: tokensAt(usage, "output"),
  },
});

/** pi puts the HTTP status before the server's answer. */
const troubleOf = (message: string, willRetry: boolean): AgentEvent => {
  const status = /^(\d{3})\b/.exec(message)?.[1];
  return errorEvent({ message, willRetry, ...(status !== undefined && { status: Number(status) }) });
};

/** Reads the output of `pi --mode json`. */
export const piParser = (): AgentOutputParser => {
  /** Whether the current message has come in pieces. */
  let isStreamed = false;
  /** The error of the agent's last message. */
  let problem: string | undefined;

  const eventsOfUpdate = (update: JsonObject): AgentEvent[] => {
    if (update["type"] === "text_end") return [{ type: "text", text: "\n" }];
    const delta = textAt(update, "delta");
    if (update["type"] !== "text_delta" || delta === undefined) return [];
    isStreamed = true;
    return [{ type: "text", text: delta }];
  };

  const eventsOfMessage = (message: JsonObject): AgentEvent[] => {
    // The prompt is repeated as well, and may contain a completion signal.
    if (message["role"] !== "assistant") return [];
    const whole = isStreamed ? [] : objectsAt(message, "content").filter((block) => block["type"] === "text");
    isStreamed = false;
    const reason = textAt(message, "stopReason");
    const isWrong = reason === "error" || reason === "aborted";
    problem = isWrong ? (textAt(message, "errorMessage") ?? reason) : undefined;
    return [
      ...whole.map((block): AgentEvent => ({ type: "text", text: `${textAt(block, "text") ?? ""}\n` })),
      ...(isObject(message["usage"]) ? [usageOf(message["usage"])] : []),
    ];
  };

  return tolerant((line, stream) => {
    const event = stream === "stdout" ? parseObject(line) : undefined;
    if (event === undefined) {
      // pi reports a missing key only here.
      const isKeyless = stream === "stderr" && line.startsWith("No API key found");
      return [isKeyless ? troubleOf(line, false) : { type: "raw", line, stream }];
    }
    const named = callId(event, "toolCallId");
    switch (event["type"]) {
      case "session":
        return sessionEvents(textAt(event, "id"));
      case "message_update":
        return eventsOfUpdate(objectAt(event, "assistantMessageEvent"));
      case "message_end":
        return eventsOfMessage(objectAt(event, "message"));
      case "tool_execution_start":
        return [{ type: "toolCall", name: textAt(event, "toolName") ?? "", input: event["args"], ...named }];
      case "tool_execution_end":
        return [
          {
            type: "toolResult",
            output: outputText(objectAt(event, "result")["content"]),
            ...named,
            isError: event["isError"] === true,
          },
        ];
      case "auto_retry_start":
        return [troubleOf(textAt(event, "errorMessage") ?? "", true)];
      case "auto_retry_end":
        return event["success"] === true ? [{ type: "turnStart" }] : [];
      case "agent_settled":
        return problem === undefined
          ? [{ type: "result", isError: false }]
          : [troubleOf(problem, false), { type: "result", isError: true, message: problem }];
      default:
        return SILENT.has(textAt(event, "type") ?? "") ? [] : [{ type: "raw", line, stream }];
    }
  });
};

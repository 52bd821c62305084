import type { IterationUsage } from "../../options/results.ts";
import { addUsage, NO_USAGE, usageBeyond } from "../../options/usage.ts";
import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { numberAt, objectAt, objectsAt, outputText, textAt, tokensAt } from "../shared/jsonLine.ts";
import { callId, sessionEvents } from "../shared/parserEvents.ts";
import { RecentIds } from "../shared/recentIds.ts";
import { dateOfEpoch } from "../shared/retryTime.ts";
import { tolerant } from "../shared/tolerant.ts";

/** Events that are not reported. */
const SILENT_SUBTYPES = new Set([
  "background_tasks_changed",
  "compact_boundary",
  "files_persisted",
  "hook_progress",
  "hook_response",
  "hook_started",
  "local_command_output",
  "permission_denied",
  "status",
  "task_notification",
  "task_progress",
  "task_started",
  "task_updated",
  "thinking_tokens",
]);
const SILENT_TYPES = new Set(["tool_progress", "auth_status", "tool_use_summary", "keep_alive"]);

/** More subagents than this do not work at the same time. */
const MAX_WRITERS = 100;

const usageIn = (usage: JsonObject): IterationUsage => ({
  inputTokens: tokensAt(usage, "input_tokens"),
  cacheCreationInputTokens: tokensAt(usage, "cache_creation_input_tokens"),
  cacheReadInputTokens: tokensAt(usage, "cache_read_input_tokens"),
  outputTokens: tokensAt(usage, "output_tokens"),
});

/** The usage of all models, subagents included; older versions report only that of the turn itself. */
const usageOfResult = (result: JsonObject): IterationUsage | undefined => {
  const models = result["model_usage_since_last_result"];
  if (!isObject(models)) return isObject(result["usage"]) ? usageIn(result["usage"]) : undefined;
  const used = Object.values(models)
    .filter(isObject)
    .map((model) => ({
      inputTokens: tokensAt(model, "inputTokens"),
      cacheCreationInputTokens: tokensAt(model, "cacheCreationInputTokens"),
      cacheReadInputTokens: tokensAt(model, "cacheReadInputTokens"),
      outputTokens: tokensAt(model, "outputTokens"),
    }));
  return used.reduce(addUsage, NO_USAGE);
};

const eventsOfBlock = (block: JsonObject, isSubagent: boolean): AgentEvent[] => {
  const text = textAt(block, "text");
  switch (block["type"]) {
    case "text":
      // A subagent talks to the agent: its completion signal is not the agent's.
      return text === undefined || isSubagent ? [] : [{ type: "text", text: `${text}\n` }];
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return [
        {
          type: "toolCall",
          name: textAt(block, "name") ?? "",
          input: block["input"],
          ...callId(block, "id"),
        },
      ];
    case "thinking":
    case "redacted_thinking":
      return isSubagent ? [] : [{ type: "turnStart" }];
    default:
      return textAt(block, "tool_use_id") === undefined ? [] : resultOfTool(block);
  }
};

const resultOfTool = (block: JsonObject): AgentEvent[] => [
  {
    type: "toolResult",
    output: outputText(block["content"]),
    ...callId(block, "tool_use_id"),
    ...(typeof block["is_error"] === "boolean" && { isError: block["is_error"] }),
  },
];

const NO_CONNECTION = "the connection to the model failed, and Claude Code does not say why";

/** Some errors are diagnostics for the authors of Claude Code. */
const isForUser = (problem: unknown): problem is string =>
  typeof problem === "string" && !problem.startsWith("[ede_diagnostic]");

/** Reads the `stream-json` output of Claude Code. */
export const claudeCodeParser = (): AgentOutputParser => {
  /** Messages whose usage is reported: there is a line for each block of a message. */
  const reportedMessages = new RecentIds();
  /** The usage reported since the last result. The next result has the exact figure. */
  let reported = NO_USAGE;
  let limitEndsAt: Date | undefined;

  /** The usage reported for the message that is being written, by its writer: the agent or a subagent. */
  const beingWritten = new Map<string, IterationUsage>();

  const eventsOfStream = (event: JsonObject): AgentEvent[] => {
    const part = objectAt(event, "event");
    const writer = textAt(event, "parent_tool_use_id") ?? "";
    if (part["type"] === "message_start") return writer === "" ? [{ type: "turnStart" }] : [];
    if (part["type"] !== "message_delta" || !isObject(part["usage"])) return [];
    const usage = usageBeyond(usageIn(part["usage"]), beingWritten.get(writer) ?? NO_USAGE);
    beingWritten.delete(writer);
    reported = addUsage(reported, usage);
    return [{ type: "usage", usage }];
  };

  const usageOfMessage = (message: JsonObject, writer: string): AgentEvent[] => {
    const id = textAt(message, "id");
    if (id === undefined || reportedMessages.has(id) || !isObject(message["usage"])) return [];
    reportedMessages.add(id);
    const usage = usageIn(objectAt(message, "usage"));
    reported = addUsage(reported, usage);
    if (beingWritten.size >= MAX_WRITERS) beingWritten.clear();
    beingWritten.set(writer, usage);
    return [{ type: "usage", usage }];
  };

  const trouble = (event: JsonObject, message: string, willRetry: boolean): AgentEvent =>
    errorEvent({
      message,
      status: numberAt(event, "api_error_status") ?? numberAt(event, "error_status"),
      willRetry,
      retryAt: limitEndsAt,
    });

  /** Claude Code reports the reason of a failed connection only when it gives up. */
  const retryOf = (event: JsonObject): AgentEvent => {
    const status = numberAt(event, "error_status");
    const error = textAt(event, "error");
    if (status === undefined && error === "unknown") {
      return { type: "error", kind: "unreachable", message: NO_CONNECTION, willRetry: true };
    }
    return trouble(event, [status, error].filter((word) => word !== undefined).join(" "), true);
  };

  const eventsOfAssistant = (event: JsonObject): readonly AgentEvent[] => {
    const message = objectAt(event, "message");
    const blocks = objectsAt(message, "content");
    if (event["is_api_error_message"] === true) {
      return [trouble(event, blocks.map((block) => textAt(block, "text") ?? "").join("\n"), false)];
    }
    const writer = textAt(event, "parent_tool_use_id") ?? "";
    return [
      ...blocks.flatMap((block) => eventsOfBlock(block, writer !== "")),
      ...usageOfMessage(message, writer),
    ];
  };

  const eventsOfResult = (event: JsonObject): AgentEvent[] => {
    const isError = event["is_error"] === true || event["subtype"] !== "success";
    const problems = Array.isArray(event["errors"]) ? event["errors"].filter(isForUser) : [];
    const reason = textAt(event, "terminal_reason") ?? textAt(event, "subtype") ?? "";
    const message = textAt(event, "result") || problems.join("\n") || `its turn ended early: ${reason}`;
    const used = usageOfResult(event);
    const usage = used && usageBeyond(used, reported);
    reported = NO_USAGE;
    reportedMessages.clear();
    beingWritten.clear();
    return [
      ...(usage ? [{ type: "usage", usage } as const] : []),
      {
        type: "result",
        isError,
        ...(isError && { message }),
      },
    ];
  };

  return tolerant((line, stream) => {
    const event = stream === "stdout" ? parseObject(line) : undefined;
    if (event === undefined) return [{ type: "raw", line, stream }];
    const subtype = textAt(event, "subtype");
    switch (event["type"]) {
      case "system":
        if (subtype === "init") {
          return [{ type: "turnStart" }, ...sessionEvents(textAt(event, "session_id"))];
        }
        if (subtype === "api_retry") {
          return [retryOf(event)];
        }
        return subtype !== undefined && SILENT_SUBTYPES.has(subtype) ? [] : [{ type: "raw", line, stream }];
      case "assistant":
        return eventsOfAssistant(event);
      case "user":
        return objectsAt(objectAt(event, "message"), "content")
          .filter((block) => block["type"] === "tool_result")
          .flatMap(resultOfTool);
      case "rate_limit_event": {
        const limit = objectAt(event, "rate_limit_info");
        const endsAt = numberAt(limit, "resetsAt");
        limitEndsAt =
          limit["status"] === "rejected" && endsAt !== undefined ? dateOfEpoch(endsAt) : undefined;
        return [];
      }
      case "stream_event":
        return eventsOfStream(event);
      case "result":
        return eventsOfResult(event);
      default:
        return SILENT_TYPES.has(textAt(event, "type") ?? "") ? [] : [{ type: "raw", line, stream }];
    }
  });
};

import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentErrorKind, AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { numberAt, objectAt, objectsAt, outputText, textAt, tokensAt } from "../shared/jsonLine.ts";
import { kindOfError } from "../shared/modelErrors.ts";
import { SessionId, StreamedText } from "../shared/parserEvents.ts";
import { RecentIds } from "../shared/recentIds.ts";
import { tolerant } from "../shared/tolerant.ts";
import { RESULT_LINE, UNAVAILABLE } from "./protocol.ts";

/** The HTTP status that an error class of the SDK stands for. */
const STATUS: Readonly<Record<string, number>> = {
  AuthenticationError: 401,
  NetworkError: 503,
  RateLimitError: 429,
};

/** Describes an error of the SDK: its class, message and code, and whether the SDK considers it retryable. */
const thrownMessage = (error: JsonObject, message: string): string => {
  const name = textAt(error, "name") ?? "Error";
  const isRetryable = error["isRetryable"];
  const details = [
    ...["code", "status"].flatMap((key) => {
      const value = textAt(error, key) ?? numberAt(error, key);
      return value === undefined ? [] : [`${key} ${value}`];
    }),
    ...(typeof isRetryable === "boolean" ? [isRetryable ? "retryable" : "not retryable"] : []),
  ];
  const named = name === "Error" ? message : `${name}: ${message}`;
  return details.length === 0 ? named : `${named} (${details.join(", ")})`;
};

/** A run that ended by itself has failed at its task. Its words are about that: only a class or a status says more. */
const kindOfEnd = (message: string): AgentErrorKind =>
  kindOfError(message) === "contextLength" ? "contextLength" : "other";

/** Events that are not reported. One is the prompt, which may contain a completion signal. */
const SILENT = new Set(["request", "status", "task", "thinking", "user"]);

const usageOf = (usage: JsonObject): AgentEvent => ({
  type: "usage",
  usage: {
    inputTokens: tokensAt(usage, "inputTokens"),
    cacheCreationInputTokens: tokensAt(usage, "cacheWriteTokens"),
    cacheReadInputTokens: tokensAt(usage, "cacheReadTokens"),
    outputTokens: tokensAt(usage, "outputTokens"),
  },
});

interface ToolCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly input: unknown;
  readonly result: unknown;
  readonly phase: "running" | "completed" | "error";
}

/** The CLI names the kind of a tool call by a key, or reports a function with its arguments as JSON. */
const callOfCli = (event: JsonObject): ToolCall => {
  const [[key, value] = ["", {}]] = Object.entries(objectAt(event, "tool_call")).filter(([, each]) =>
    isObject(each),
  );
  const call = isObject(value) ? value : {};
  const json = textAt(call, "arguments") ?? "";
  const result = call["result"];
  const failed = isObject(result) && !("success" in result) && Object.keys(result).length > 0;
  const phase = event["subtype"] === "completed" ? (failed ? "error" : "completed") : "running";
  return {
    id: textAt(event, "call_id"),
    name: key === "function" ? (textAt(call, "name") ?? key) : key.replace(/ToolCall$/, ""),
    input: key === "function" ? (parseObject(json) ?? json) : call["args"],
    result: isObject(result) ? (result["success"] ?? Object.values(result)[0]) : result,
    phase,
  };
};

const callOfSdk = (event: JsonObject): ToolCall => {
  const status = event["status"];
  return {
    id: textAt(event, "call_id"),
    name: textAt(event, "name") ?? "",
    input: event["args"],
    result: event["result"],
    phase: status === "completed" || status === "error" ? status : "running",
  };
};

/** Reads the output of `cursor-agent --output-format stream-json`, and that of the driver. */
export const cursorParser = (): AgentOutputParser => {
  const session = new SessionId();
  /** The SDK's text. */
  const text = new StreamedText();
  let hasReportedUsage = false;
  /** Calls that are reported and not over. */
  const begun = new RecentIds();

  const eventsOfCall = (call: ToolCall, isFromSdk: boolean): AgentEvent[] => {
    const { id = "", name, input, phase } = call;
    const named = { ...(id !== "" && { id }) };
    // The SDK repeats a call while its arguments are still being written.
    if (isFromSdk && phase === "running") return [];
    const calls: AgentEvent[] = begun.has(id) ? [] : [{ type: "toolCall", name, input, ...named }];
    begun.add(id);
    if (phase === "running") return calls;
    begun.delete(id);
    const output = isObject(call.result) ? JSON.stringify(call.result) : outputText(call.result);
    return [...calls, { type: "toolResult", output, ...named, isError: phase === "error" }];
  };

  const eventsOfAssistant = (event: JsonObject, isFromSdk: boolean): AgentEvent[] => {
    const texts = objectsAt(objectAt(event, "message"), "content")
      .filter((block) => block["type"] === "text")
      .map((block) => textAt(block, "text") ?? "")
      .filter((each) => each !== "");
    return texts.flatMap((each) => (isFromSdk ? text.piece(each) : [{ type: "text", text: `${each}\n` }]));
  };

  const eventsOfDriver = (event: JsonObject): AgentEvent[] => {
    const usage = event["usage"];
    const usageEvents = !hasReportedUsage && isObject(usage) ? [usageOf(usage)] : [];
    if (event["status"] === "finished") return [...usageEvents, { type: "result", isError: false }];
    const error = objectAt(event, "error");
    const words = textAt(error, "message") ?? `the run was ${String(event["status"])}`;
    const status = STATUS[textAt(error, "name") ?? ""] ?? numberAt(error, "status");
    const isThrown = event["status"] === UNAVAILABLE;
    const trouble = errorEvent({ message: words, status, willRetry: false });
    const ended = status === undefined ? kindOfEnd(words) : trouble.kind;
    const kind = isThrown ? (trouble.kind === "other" ? "unavailable" : trouble.kind) : ended;
    const message = isThrown ? thrownMessage(error, words) : words;
    return [...usageEvents, { ...trouble, kind, message }, { type: "result", isError: true, message }];
  };

  const eventsOf = (event: JsonObject, line: string): readonly AgentEvent[] => {
    const isFromSdk = typeof event["agent_id"] === "string";
    switch (event["type"]) {
      case "system":
        return [];
      case "tool_call":
        return eventsOfCall(isFromSdk ? callOfSdk(event) : callOfCli(event), isFromSdk);
      case "usage":
        hasReportedUsage = true;
        return [usageOf(objectAt(event, "usage"))];
      case "result": {
        const isError = event["is_error"] === true || event["subtype"] !== "success";
        const message = textAt(event, "result") || textAt(event, "error") || "it reported an error";
        return isError
          ? [errorEvent({ message, willRetry: false }), { type: "result", isError, message }]
          : [{ type: "result", isError }];
      }
      case RESULT_LINE:
        return eventsOfDriver(event);
      default:
        return SILENT.has(String(event["type"])) ? [] : [{ type: "raw", line, stream: "stdout" }];
    }
  };

  return tolerant((line, stream) => {
    // The CLI reports its errors here, in words only.
    if (stream === "stderr") {
      return [
        kindOfError(line) === "other"
          ? { type: "raw", line, stream }
          : errorEvent({ message: line, willRetry: false }),
      ];
    }
    const event = parseObject(line);
    if (event === undefined) return [{ type: "raw", line, stream }];
    if (event["type"] === "assistant") return eventsOfAssistant(event, typeof event["agent_id"] === "string");
    const id = textAt(event, "session_id") ?? textAt(event, "agent_id");
    return [...text.end(), ...session.eventsFor(id), ...eventsOf(event, line)];
  });
};

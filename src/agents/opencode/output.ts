import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { type AgentErrorEvent, errorEvent } from "../shared/errorEvent.ts";
import { numberAt, objectAt, textAt, tokensAt } from "../shared/jsonLine.ts";
import { callId, SessionId } from "../shared/parserEvents.ts";
import { tolerant } from "../shared/tolerant.ts";

/** opencode compacts a full context by itself. If that does not help, it repeats it for ever. */
const MAX_OVERFLOWS = 3;

/** Reasons for the end of a step after which opencode starts another. */
const CONTINUES = new Set(["tool-calls", "unknown"]);

/** A longer line is not an error of opencode, and searching it would be slow. */
const MAX_LOG_LINE = 16_000;

const eventsOfTool = (part: JsonObject): AgentEvent[] => {
  const state = objectAt(part, "state");
  const named = callId(part, "callID");
  const failed = state["status"] === "error";
  // opencode reports a failed command as a success of the tool.
  const exitCode = numberAt(objectAt(state, "metadata"), "exit") ?? 0;
  return [
    { type: "toolCall", name: textAt(part, "tool") ?? "", input: state["input"], ...named },
    {
      type: "toolResult",
      output: (failed ? textAt(state, "error") : textAt(state, "output")) ?? "",
      ...named,
      isError: failed || exitCode !== 0,
    },
  ];
};

const usageOfStep = (part: JsonObject): AgentEvent => {
  const tokens = objectAt(part, "tokens");
  const cache = objectAt(tokens, "cache");
  return {
    type: "usage",
    usage: {
      inputTokens: tokensAt(tokens, "input"),
      cacheCreationInputTokens: tokensAt(cache, "write"),
      cacheReadInputTokens: tokensAt(cache, "read"),
      outputTokens: tokensAt(tokens, "output") + tokensAt(tokens, "reasoning"),
    },
  };
};

const retryAtOf = (data: JsonObject): Date | undefined => {
  const seconds = Number(objectAt(data, "responseHeaders")["retry-after"]);
  return seconds > 0 ? new Date(Date.now() + seconds * 1000) : undefined;
};

const troubleOf = (error: JsonObject): AgentErrorEvent => {
  const data = objectAt(error, "data");
  const message = textAt(data, "message") ?? textAt(error, "name") ?? "it reported an error";
  const details = {
    status: numberAt(data, "statusCode"),
    willRetry: false,
    retryAt: retryAtOf(data),
  };
  // The server's answer is more precise than its summary.
  const answer = `${message} ${textAt(data, "responseBody") ?? ""}`;
  return { ...errorEvent({ message: answer, ...details }), message };
};

/** The message of an error in the log, which has a line of `key=value` pairs for each. */
const loggedError = (line: string): string | undefined => {
  if (line.length > MAX_LOG_LINE) return undefined;
  if (!/\blevel=ERROR\b/.test(line)) return undefined;
  const [, quoted, bare] = /\berror(?:\.\w+)*=(?:"((?:[^"\\]|\\.)*)"|([^"\s]\S*))/.exec(line) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? bare;
};

/** opencode reports retries only in its log. `small=true` marks requests for a title, which are not the agent's work. */
const eventsOfLog = (line: string): readonly AgentEvent[] => {
  const isRetry = line.includes("stream error") && !line.includes("small=true");
  const message = isRetry ? loggedError(line) : undefined;
  return [
    message === undefined
      ? { type: "raw", line, stream: "stderr" }
      : errorEvent({ message, willRetry: true }),
  ];
};

/** Reads the output of `opencode run --format json`, and its log. */
export const opencodeParser = (): AgentOutputParser => {
  const session = new SessionId();
  let overflows = 0;
  /** The step has called a tool: another one follows. */
  let hasCalledTool = false;
  /** It is compacting the context. */
  let isCompacting = false;

  const eventsOfText = (part: JsonObject): AgentEvent[] => {
    if (part["synthetic"] !== true) {
      return isCompacting ? [] : [{ type: "text", text: `${textAt(part, "text") ?? ""}\n` }];
    }
    // opencode's own prompt to continue after it has compacted the context, not the agent's words.
    isCompacting = false;
    return [{ type: "turnStart" }];
  };

  const eventsOfError = (error: JsonObject): AgentEvent[] => {
    const trouble = troubleOf(error);
    const { message } = trouble;
    if (error["name"] !== "ContextOverflowError")
      return [trouble, { type: "result", isError: true, message }];
    overflows++;
    isCompacting = true;
    const overflow: AgentErrorEvent = {
      ...trouble,
      kind: "contextLength",
      willRetry: overflows < MAX_OVERFLOWS,
    };
    return overflow.willRetry
      ? [overflow]
      : [overflow, { type: "result", isError: true, message, mustBeStopped: true }];
  };

  const eventsOf = (event: JsonObject, line: string): readonly AgentEvent[] => {
    const part = objectAt(event, "part");
    switch (event["type"]) {
      case "step_start":
        hasCalledTool = false;
        return [{ type: "turnStart" }];
      case "reasoning":
        return [];
      case "text":
        return eventsOfText(part);
      case "tool_use":
        isCompacting = false;
        hasCalledTool ||= objectAt(part, "metadata")["providerExecuted"] !== true;
        return eventsOfTool(part);
      case "step_finish": {
        const continues = hasCalledTool || isCompacting || CONTINUES.has(textAt(part, "reason") ?? "");
        return [
          ...(isObject(part["tokens"]) ? [usageOfStep(part)] : []),
          ...(continues ? [] : [{ type: "result", isError: false } as const]),
        ];
      }
      case "error":
        return eventsOfError(objectAt(event, "error"));
      default:
        return [{ type: "raw", line, stream: "stdout" }];
    }
  };

  return tolerant((line, stream) => {
    if (stream === "stderr") return eventsOfLog(line);
    const event = parseObject(line);
    if (event === undefined) return [{ type: "raw", line, stream }];
    return [...session.eventsFor(textAt(event, "sessionID")), ...eventsOf(event, line)];
  });
};

import type { IterationUsage } from "../../options/results.ts";
import { NO_USAGE, usageBeyond } from "../../options/usage.ts";
import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentIteration, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { objectAt, outputText, textAt, tokensAt } from "../shared/jsonLine.ts";
import { callId, sessionEvents } from "../shared/parserEvents.ts";
import { RecentIds } from "../shared/recentIds.ts";
import { tolerant } from "../shared/tolerant.ts";

/** Codex includes cached tokens in the input. */
export const codexUsage = (usage: JsonObject): IterationUsage => {
  const cached = tokensAt(usage, "cached_input_tokens");
  const written = tokensAt(usage, "cache_write_input_tokens");
  return {
    inputTokens: Math.max(0, tokensAt(usage, "input_tokens") - cached - written),
    cacheCreationInputTokens: written,
    cacheReadInputTokens: cached,
    outputTokens: tokensAt(usage, "output_tokens"),
  };
};

/** Members that describe the state of an item, not the input of the call. */
const STATE_KEYS = new Set(["id", "type", "status", "aggregated_output", "exit_code", "result", "error"]);

const callOf = (item: JsonObject): AgentEvent => {
  const named = callId(item, "id");
  if (item["type"] === "mcp_tool_call") {
    const name = [textAt(item, "server"), textAt(item, "tool")].filter(Boolean).join(".");
    return { type: "toolCall", name, input: item["arguments"], ...named };
  }
  const input = Object.fromEntries(Object.entries(item).filter(([key]) => !STATE_KEYS.has(key)));
  return { type: "toolCall", name: String(item["type"]), input, ...named };
};

const outputOf = (item: JsonObject): string => {
  if (typeof item["aggregated_output"] === "string") return item["aggregated_output"];
  const error = textAt(objectAt(item, "error"), "message");
  return error ?? outputText(objectAt(item, "result")["content"]);
};

const resultOf = (item: JsonObject): AgentEvent => ({
  type: "toolResult",
  output: outputOf(item),
  ...callId(item, "id"),
  isError: item["status"] === "failed",
});

/** The message of an error: some errors quote the server's answer as JSON. */
const wordsOf = (message: string): string => {
  const answer = parseObject(message);
  return (answer && textAt(objectAt(answer, "error"), "message")) ?? message;
};

/** Reads the output of `codex exec --json`. */
export const codexParser = ({ resume }: Pick<AgentIteration, "resume">): AgentOutputParser => {
  /** Codex reports the usage since the session began. */
  let reported = resume?.usedBefore ?? NO_USAGE;
  const begun = new RecentIds();
  let lastError: string | undefined;

  const failed = (message: string, willRetry: boolean): AgentEvent[] => {
    // An error that ends the turn is reported twice. A repeated error before that is another attempt.
    if (message === lastError && !willRetry) return [];
    lastError = message;
    return [{ ...errorEvent({ message, willRetry }), message: wordsOf(message) }];
  };

  const eventsOfItem = (phase: string, item: JsonObject): AgentEvent[] => {
    const id = textAt(item, "id") ?? "";
    const text = textAt(item, "text") ?? textAt(item, "message") ?? "";
    lastError = undefined;
    switch (item["type"]) {
      case "agent_message":
        return phase === "item.completed" ? [{ type: "text", text: `${text}\n` }] : [];
      case "reasoning":
        return [{ type: "turnStart" }];
      case "error":
        // A warning: Codex continues.
        return [];
      default: {
        const call = begun.has(id) ? [] : [callOf(item)];
        begun.add(id);
        if (phase !== "item.completed") return call;
        begun.delete(id);
        return [...call, resultOf(item)];
      }
    }
  };

  return tolerant((line, stream) => {
    const event = stream === "stdout" ? parseObject(line) : undefined;
    // Errors that keep Codex from starting a turn are only here.
    if (stream === "stderr" && line.startsWith("Error: ")) return failed(line.slice("Error: ".length), false);
    const message = event && (textAt(event, "message") ?? textAt(objectAt(event, "error"), "message"));
    switch (event?.["type"]) {
      case "thread.started":
        return sessionEvents(textAt(event, "thread_id"));
      case "turn.started":
        return [{ type: "turnStart" }];
      case "item.started":
      case "item.updated":
      case "item.completed":
        return eventsOfItem(event["type"], objectAt(event, "item"));
      case "error":
        return failed(message ?? "", /^Reconnecting\b/.test(message ?? ""));
      case "turn.completed": {
        if (!isObject(event["usage"])) return [{ type: "result", isError: false }];
        const all = codexUsage(event["usage"]);
        const usage = usageBeyond(all, reported);
        reported = all;
        return [
          { type: "usage", usage },
          { type: "result", isError: false },
        ];
      }
      case "turn.failed":
        return [
          ...failed(message ?? "", false),
          { type: "result", isError: true, message: wordsOf(message ?? "its turn failed") },
        ];
      default:
        return [{ type: "raw", line, stream }];
    }
  });
};

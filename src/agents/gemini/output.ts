import { type JsonObject, parseObject } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { numberAt, objectAt, textAt, tokensAt } from "../shared/jsonLine.ts";
import { callId, StreamedText, sessionEvents } from "../shared/parserEvents.ts";
import { tolerant } from "../shared/tolerant.ts";

/** Gemini CLI tries ten times, with pauses of up to half a minute. After this many failures, about half a minute, it is stopped. */
const MAX_ATTEMPTS = 4;

const ATTEMPT =
  /^Attempt (\d+) failed(?: with (?:status )?(\d{3}|5xx)(?: error[^.]*)?)?[.:] ?(?:Retrying with backoff\.\.\. ?)?(.*)$/;

const MAX_WORDS = 4000;

interface Trouble {
  readonly message: string;
  readonly status: number | undefined;
}

/** The message and the status of an error. Both may be inside the server's answer, which the error quotes. */
const troubleIn = (words: string, givenStatus?: number): Trouble => {
  // Searching a longer text would be slow: it is reported as it is.
  const text = words.length > MAX_WORDS ? "" : words;
  const [answer = ""] = /\{"error":.*\}/.exec(text) ?? [];
  const error = objectAt(parseObject(answer) ?? {}, "error");
  const status = numberAt(error, "code") ?? givenStatus;
  const [, bracketed] = /^\[API Error: (.*?)\]?$/m.exec(text) ?? [];
  return {
    message: textAt(error, "message") ?? bracketed ?? words,
    // This server answers an invalid key with 400: the words are more precise.
    status: status === 400 ? undefined : status,
  };
};

const usageOf = (stats: JsonObject): AgentEvent => {
  const input = tokensAt(stats, "input_tokens");
  const cached = tokensAt(stats, "cached");
  const beyondInput = tokensAt(stats, "total_tokens") - input;
  return {
    type: "usage",
    usage: {
      inputTokens: Math.max(0, input - cached),
      cacheCreationInputTokens: 0,
      cacheReadInputTokens: cached,
      // Only the total includes the tokens of thoughts.
      outputTokens: Math.max(tokensAt(stats, "output_tokens"), beyondInput),
    },
  };
};

const toolEvent = (event: JsonObject): AgentEvent => {
  const named = callId(event, "tool_id");
  if (event["type"] === "tool_use") {
    return { type: "toolCall", name: textAt(event, "tool_name") ?? "", input: event["parameters"], ...named };
  }
  const output = textAt(event, "output") ?? textAt(objectAt(event, "error"), "message") ?? "";
  return { type: "toolResult", output, ...named, isError: event["status"] === "error" };
};

/** Reads the output of `gemini --output-format stream-json`, and the errors in its log. */
export const geminiParser = (): AgentOutputParser => {
  const text = new StreamedText();
  /** The last error, which may be on both streams. */
  let lastError: string | undefined;
  /** The last error with a status: when the agent gives up, it repeats the words without the status. */
  let lastRefusal: Trouble | undefined;

  const failed = (trouble: Trouble, willRetry: boolean): AgentEvent[] => {
    const { message } = trouble;
    if (message === lastError && !willRetry) return [];
    lastError = willRetry ? undefined : message;
    if (trouble.status !== undefined) lastRefusal = trouble;
    const status = message === lastRefusal?.message ? lastRefusal.status : trouble.status;
    return [errorEvent({ message, status, willRetry })];
  };

  const eventsOfLog = (line: string): readonly AgentEvent[] => {
    const [, attempt, status, words] = ATTEMPT.exec(line) ?? [];
    if (attempt !== undefined) {
      const trouble = troubleIn(words || line, Number(status) || undefined);
      const isLast = Number(attempt) >= MAX_ATTEMPTS;
      const events = failed(trouble, !isLast);
      return isLast
        ? [...events, { type: "result", isError: true, message: trouble.message, mustBeStopped: true }]
        : events;
    }
    if (
      /^(Please set an Auth method|Invalid auth method|When using Gemini API, you must specify)\b/.test(line)
    )
      return failed({ message: line, status: 401 }, false);
    const [, error] =
      /^Error when talking to Gemini API(?: Full report available at: \S+)? (?:\w*Error: )?(.*)$/.exec(
        line,
      ) ??
      /^(Error(?::| resuming session:) .*)$/.exec(line) ??
      [];
    return error === undefined ? [{ type: "raw", line, stream: "stderr" }] : failed(troubleIn(error), false);
  };

  const eventsOfResult = (event: JsonObject): readonly AgentEvent[] => {
    const usage = isObject(event["stats"]) ? [usageOf(event["stats"])] : [];
    if (event["status"] === "success") return [...usage, { type: "result", isError: false }];
    const reported = textAt(objectAt(event, "error"), "message");
    const trouble = reported === undefined ? undefined : troubleIn(reported);
    const message = trouble?.message ?? lastError ?? "it reported an error";
    return [...usage, ...(trouble ? failed(trouble, false) : []), { type: "result", isError: true, message }];
  };

  const eventsOf = (event: JsonObject, line: string): readonly AgentEvent[] => {
    switch (event["type"]) {
      case "init":
        return sessionEvents(textAt(event, "session_id"));
      case "tool_use":
      case "tool_result":
        lastError = undefined;
        return [toolEvent(event)];
      case "error":
        return failed(troubleIn(textAt(event, "message") ?? ""), event["severity"] !== "error");
      case "result":
        return eventsOfResult(event);
      default:
        return [{ type: "raw", line, stream: "stdout" }];
    }
  };

  return tolerant((line, stream) => {
    if (stream === "stderr") return eventsOfLog(line);
    const event = parseObject(line);
    if (event === undefined) return [{ type: "raw", line, stream }];
    if (event["type"] !== "message") return [...text.end(), ...eventsOf(event, line)];
    // The prompt is repeated as well, and may contain a completion signal.
    const events = text.piece(event["role"] === "assistant" ? (textAt(event, "content") ?? "") : "");
    if (events.length > 0) lastError = undefined;
    return events;
  });
};

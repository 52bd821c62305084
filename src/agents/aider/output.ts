import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { tolerant } from "../shared/tolerant.ts";

/** The last line, which the shell prints: aider ends with exit code 0 even if its model never answered. */
export const END_LINE = "[sanddune: aider has ended]";

/** The HTTP status that an error class of aider's model library stands for. */
const STATUS: Readonly<Record<string, number>> = {
  APIConnectionError: 503,
  AuthenticationError: 401,
  BadGatewayError: 502,
  ContextWindowExceededError: 413,
  InternalServerError: 500,
  PermissionDeniedError: 403,
  RateLimitError: 429,
  RouterRateLimitError: 429,
  ServiceUnavailableError: 503,
  Timeout: 504,
};

const ERROR = /^litellm\.(?:exceptions\.)?(\w+): (.*)$/;
const TOKEN_LIMIT = /^Model \S+ has hit a token limit!$/;
const RETRY = /^Retrying in [\d.]+ seconds\.\.\.$/;

/** Reads the plain text that aider prints: all of it is the agent's, except errors of the model. */
export const aiderParser = (): AgentOutputParser => {
  /** The last error, unless aider has announced another attempt. */
  let trouble: string | undefined;

  const failed = (message: string, status: number | undefined): AgentEvent[] => {
    trouble = message;
    return [errorEvent({ message, status, willRetry: false })];
  };

  return tolerant((line, stream) => {
    if (stream === "stderr") return [{ type: "raw", line, stream }];
    if (line === END_LINE)
      return trouble === undefined ? [] : [{ type: "result", isError: true, message: trouble }];
    const [, name, words] = ERROR.exec(line) ?? [];
    if (name !== undefined) return failed(`${name}: ${words}`, STATUS[name]);
    if (TOKEN_LIMIT.test(line)) return failed(line, STATUS["ContextWindowExceededError"]);
    if (trouble === undefined) return [{ type: "text", text: `${line}\n` }];
    // The lines after an error explain it.
    if (RETRY.test(line)) trouble = undefined;
    return [{ type: "raw", line, stream }];
  });
};

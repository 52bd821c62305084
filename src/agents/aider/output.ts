import type { AgentEvent, AgentOutputParser } from "../contract.ts";
import { errorEvent } from "../shared/errorEvent.ts";
import { tolerant } from "../shared/tolerant.ts";

/** The last line, printed by the shell in which aider runs: aider ends with exit code 0 even if its model never answered. */
export const END_LINE = "[sanddune: aider has ended]";

/** Errors of the library through which aider talks to models, by what they would be as a status of HTTP. */
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

/** Reads the plain text that aider prints: all of it is the agent's, except what it says of its trouble with the model. */
export const aiderParser = (): AgentOutputParser => {
  /** What aider has told of last, if it has not said that it tries again. */
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
    // An explanation follows an error, in as many lines as it takes.
    if (RETRY.test(line)) trouble = undefined;
    return [{ type: "raw", line, stream }];
  });
};

import { describe, expect, it } from "vitest";
import type { AgentErrorKind } from "../../../src/agents/contract.ts";
import { kindOfError } from "../../../src/agents/shared/modelErrors.ts";

/** What real agents have said, without telling the status of HTTP beside it. */
const WORDS: Readonly<Record<AgentErrorKind, readonly string[]>> = {
  authentication: [
    "Not logged in · Please run /login",
    "Failed to authenticate. API Error: 401 invalid api key",
    "Failed to authenticate: OAuth token revoked. Please log in again or contact your administrator.",
    "unexpected status 401 Unauthorized: invalid api key, url: http://127.0.0.1:8080/v1/responses",
    "unexpected status 403 Forbidden: forbidden, url: http://127.0.0.1:8080/v1/responses",
    "Missing environment variable: `CODEX_API_KEY`.",
    '401: {"message":"bad key","type":"invalid_request_error","code":"invalid_api_key","param":null}',
    "No API key found for anthropic.",
    "API key not valid. Please pass a valid API key.",
    '[API Error: {"error":{"code":401,"message":"bad key","status":"UNAUTHENTICATED"}}]',
    "invalid x-api-key",
    "invalid api key",
    "Credit balance is too low",
    '{"code":7,"status":"PERMISSION_DENIED"}',
  ],
  rateLimit: [
    "Quota exceeded. Check your plan and billing details.",
    "You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.",
    "Rate limit reached for gpt-5.5. Please try again in 20s. Visit https://models.example/account/billing to add a payment method.",
    "Too many tokens, please wait before trying again.",
    "ThrottlingException: Rate exceeded",
    "You've hit your 5-hour limit · resets 8:44am (UTC)",
    "You've hit your weekly limit · resets Nov 20, 8am (UTC)",
    "API Error: Request rejected (429) · Rate limit reached",
    "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limit reached",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "Reconnecting... 1/2 (exceeded retry limit, last status: 429 Too Many Requests)",
    "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:13 AM.",
    "You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again later.",
    "rate limit exceeded: Rate limit reached for gpt-5.5. Please try again in 1.5s.",
    "rate limit exceeded: slow down",
    '429: {"message":"Rate limit reached","type":"x","code":"rate_limit_exceeded"}',
    "AI_APICallError: Rate limit reached, slow",
    "[API Error: Resource has been exhausted (e.g. check quota).]",
    "[API Error: You have exhausted your daily quota on this model.]",
    "Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000, Used 25401, Requested 9000.",
    "Rate limit reached: not enough tokens left",
  ],
  overloaded: [
    "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.",
    "API Error: 500 Internal server error. This is a server-side issue, usually temporary",
    "Selected model is at capacity. Please try a different model.",
    "We’re currently experiencing high demand, which may cause temporary errors.",
    "unexpected status 503 Service Unavailable: unavailable, url: http://127.0.0.1:8080/v1/responses",
    '503: {"message":"unavailable","code":"server_is_overloaded"}',
    '529: {"message":"Overloaded","type":"overloaded_error"}',
    "[API Error: overloaded]",
    "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.",
    "stream disconnected before completion: error sending request",
    "Cannot connect to API: The socket connection was closed unexpectedly.",
  ],
  unreachable: [
    "Connection error.",
    "TypeError: fetch failed",
    "Error: exception TypeError: fetch failed sending request",
    "getaddrinfo ENOTFOUND api.example",
    "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
    "Reconnecting... waiting for network (Connection failed: error sending request)",
    "AI_APICallError: Cannot connect to API: Unable to connect. Is the computer able to access the url?",
    "tcp connect error: Connection refused (os error 111) [ECONNREFUSED]",
    "Could not connect to local model provider at http://127.0.0.1:8080/v1.",
  ],
  contextLength: [
    "Prompt is too long · the request is ~210000 tokens (limit 200000) but …",
    "Prompt is too long · this conversation is a single exchange and cannot be compacted …",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    "Request too large (max 32MB). Accumulated images …",
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    '{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}',
    "unexpected status 413 Payload Too Large: too large, url: http://127.0.0.1:8080/v1/responses",
    "This model's maximum context length is 200000 tokens.",
    "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
    "The provider rejected the prompt as too long, but automatic recovery could not reduce it. Reduce context before retrying.",
  ],
  // No words say that: it is known from how the agent was started.
  unavailable: [],
  other: [
    "API Error: 400 bad request",
    "bad request",
    "EACCES: permission denied, mkdir '/home/x/.copilot'",
    "Permission denied (os error 13)",
    "Failed to authenticate with MCP server tickets",
    "There's an issue with the selected model (x). It may not exist",
    "Model metadata for `totally-unknown` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
    "Reached maximum number of turns (1)",
    "unknown",
    "",
  ],
};

const told = Object.entries(WORDS).flatMap(([kind, messages]) =>
  messages.map((message) => ({ kind: kind as AgentErrorKind, message })),
);

describe("the kind of an error", () => {
  it.each(told)("is $kind by the words alone: $message", ({ kind, message }) => {
    expect(kindOfError(message)).toBe(kind);
  });

  it.each<[number, AgentErrorKind]>([
    [400, "other"],
    [401, "authentication"],
    [403, "authentication"],
    [404, "other"],
    [413, "contextLength"],
    [422, "other"],
    [429, "rateLimit"],
    [500, "overloaded"],
    [502, "overloaded"],
    [503, "overloaded"],
    [529, "overloaded"],
    [0, "other"],
    [-1, "other"],
  ])("is decided by the status %d, whatever the words are", (status, kind) => {
    expect(kindOfError("bad luck", status)).toBe(kind);
  });

  it("is that of the status where the words speak of something else as well", () => {
    expect(kindOfError("429 Rate limit: authenticate for more, the servers are overloaded", 503)).toBe(
      "overloaded",
    );
  });

  it("is a full context also where the status says that it was a bad request", () => {
    expect(kindOfError("prompt is too long: 210000 tokens > 200000 maximum", 400)).toBe("contextLength");
  });

  it("is found in words of any length", () => {
    const noise = "no api ".repeat(200_000);
    expect(kindOfError(`${noise}429`)).toBe("rateLimit");
  });
});

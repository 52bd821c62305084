import type { AgentErrorKind } from "../contract.ts";

const BY_STATUS: Readonly<Record<number, AgentErrorKind>> = {
  401: "authentication",
  403: "authentication",
  413: "contextLength",
  429: "rateLimit",
  529: "overloaded",
};

/** Waiting does not help an account without credit. "quota" alone is not enough: temporary limits use the word, too. */
const ACCOUNT = /insufficient_quota|billing_(error|hard_limit|not_active)|credit balance/i;

/** In this order: a prompt that is too long is often reported as a bad request whose words mention a limit. */
const BY_WORDS: readonly (readonly [AgentErrorKind, RegExp])[] = [
  ["other", /EACCES|EPERM|os error 13|MCP server/],
  ["authentication", ACCOUNT],
  ["rateLimit", /throttl|please wait before/i],
  [
    "contextLength",
    /context[ _-]?(length|window|limit)|(prompt|input|request|payload|conversation) (is |as )?too (long|large)|maximum context|too many (input )?tokens|exceeds? the (maximum|model)/i,
  ],
  [
    "authentication",
    /\b40[13]\b|unauthori[sz]ed|unauthenticated|authenticat|permission_(denied|error)|\b(invalid|incorrect|missing|no|expired)\b.{0,12}(api.?key|(auth|access|bearer)\w*.?token|credential)|missing environment variable|api.?key.{0,40}(not|missing|invalid|required|set)|not logged in|log ?in again|please (log|sign) ?in/i,
  ],
  [
    "rateLimit",
    /\b429\b|rate.?limit|too many requests|usage.?limit|hit your .{0,20}limit|quota|resource.?exhausted/i,
  ],
  [
    "overloaded",
    /\b5(00|02|03|04|29)\b|overload|unavailable|internal (server )?error|bad gateway|high demand|at capacity|slow_down|server error|connection (was |closed|reset|dropped)|disconnected|ECONNRESET|ECONNABORTED/i,
  ],
  [
    "unreachable",
    /fetch failed|(can ?not|could not|unable to|failed to) connect|connect(ion)? (error|refused|failed|timed out)|waiting for network|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
  ],
];

/** The kind of an error that an agent reports. */
export const kindOfError = (message: string, status?: number): AgentErrorKind => {
  const byWords = BY_WORDS.find(([, words]) => words.test(message))?.[0];
  if (status === undefined) return byWords ?? "other";
  if (ACCOUNT.test(message)) return "authentication";
  if (status === 400) return byWords === "contextLength" ? byWords : "other";
  return BY_STATUS[status] ?? (status >= 500 ? "overloaded" : "other");
};

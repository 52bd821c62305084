import type { ScriptedUsage } from "../script.ts";
import type { ToolCall } from "../tools.ts";
import type { Dialect } from "./dialect.ts";

const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

const usageOf = ({ input, cacheRead, output, reasoning }: ScriptedUsage) => ({
  promptTokenCount: input + cacheRead,
  candidatesTokenCount: output,
  totalTokenCount: input + cacheRead + output,
  cachedContentTokenCount: cacheRead,
  thoughtsTokenCount: reasoning,
});

const thought = (text: string) => ({ text, thought: true });
const functionCall = ({ name, input }: ToolCall) => ({ functionCall: { name, args: input } });
const candidate = (parts: readonly object[], end: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...end }],
});
const END = { finishReason: "STOP" };

/** Gemini's generateContent. */
export const gemini: Dialect = {
  name: "gemini",
  matches: (path) => /:(generateContent|streamGenerateContent)$/.test(path),
  wantsStream: (path) => path.endsWith(":streamGenerateContent"),
  error: (status, message) => ({ error: { code: status, message, status: STATUSES[status] ?? "INTERNAL" } }),
  whole: ({ model, thinking, text, calls, usage }) => ({
    ...candidate(
      [...(thinking ? [thought(thinking)] : []), ...(text ? [{ text }] : []), ...calls.map(functionCall)],
      END,
    ),
    usageMetadata: usageOf(usage),
    modelVersion: model,
  }),
  async stream({ model, thinking, text, calls, usage }, to) {
    if (thinking) to.send(candidate([thought(thinking)]));
    if (text) await to.text(text, (piece) => to.send(candidate([{ text: piece }])));
    for (const call of calls) to.send(candidate([functionCall(call)]));
    to.send({ ...candidate([{ text: "" }], END), usageMetadata: usageOf(usage), modelVersion: model });
  },
};

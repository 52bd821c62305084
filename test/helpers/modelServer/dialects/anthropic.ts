import type { ScriptedUsage } from "../script.ts";
import { type Answer, type Dialect, newId, piecesOf } from "./dialect.ts";

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

type Block =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

const blocksOf = ({ thinking, text, calls }: Answer): Block[] => [
  ...(thinking ? [{ type: "thinking" as const, thinking, signature: "c2NyaXB0ZWQ=" }] : []),
  ...(text ? [{ type: "text" as const, text }] : []),
  ...calls.map(({ name, input }) => ({ type: "tool_use" as const, id: newId("toolu"), name, input })),
];

const emptyBlock = (block: Block): Block => {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
};

const usageOf = (usage: ScriptedUsage) => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cacheRead,
  output_tokens: usage.output,
  service_tier: "standard",
});

const stopReason = ({ calls }: Answer): string => (calls.length > 0 ? "tool_use" : "end_turn");

const emptyMessage = (answer: Answer) => ({
  id: newId("msg"),
  type: "message",
  role: "assistant",
  model: answer.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { ...usageOf(answer.usage), output_tokens: 1 },
});

/** Anthropic's Messages. */
export const anthropic: Dialect = {
  name: "anthropic",
  matches: (path) => path.endsWith("/messages"),
  wantsStream: (_path, { stream }) => stream === true,
  error: (status, message) => ({
    type: "error",
    error: { type: ERROR_TYPES[status] ?? "api_error", message },
    request_id: newId("req"),
  }),
  whole: (answer) => ({
    ...emptyMessage(answer),
    content: blocksOf(answer),
    stop_reason: stopReason(answer),
    usage: usageOf(answer.usage),
  }),
  async stream(answer, to) {
    const send = (type: string, data: object) => to.send({ type, ...data }, type);
    send("message_start", { message: emptyMessage(answer) });
    for (const [index, block] of blocksOf(answer).entries()) {
      const delta = (change: object) => send("content_block_delta", { index, delta: change });
      send("content_block_start", { index, content_block: emptyBlock(block) });
      if (block.type === "thinking") {
        delta({ type: "thinking_delta", thinking: block.thinking });
        delta({ type: "signature_delta", signature: block.signature });
      } else if (block.type === "text") {
        await to.text(block.text, (text) => delta({ type: "text_delta", text }));
      } else {
        for (const piece of piecesOf(JSON.stringify(block.input)))
          delta({ type: "input_json_delta", partial_json: piece });
      }
      send("content_block_stop", { index });
    }
    send("message_delta", {
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: usageOf(answer.usage),
    });
    send("message_stop", {});
  },
};

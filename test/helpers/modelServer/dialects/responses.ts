import type { ToolCall } from "../tools.ts";
import { type Answer, type AnswerStream, type Dialect, newId, secondsNow } from "./dialect.ts";

const ERROR_CODES: Readonly<Record<number, string>> = { 401: "invalid_api_key", 429: "rate_limit_exceeded" };

const errorType = (status: number): string => {
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
};

/** The errors of both of OpenAI's dialects. */
export const openAiError = (status: number, message: string) => ({
  error: { message, type: errorType(status), code: ERROR_CODES[status] ?? null, param: null },
});

const callItem = ({ kind, name, namespace, input }: ToolCall) => {
  const call = { status: "completed", call_id: newId("call") };
  if (kind === "local_shell") {
    const { command } = input as { readonly command: readonly string[] };
    return {
      ...call,
      id: newId("lsh"),
      type: "local_shell_call" as const,
      action: { type: "exec", command, env: {} },
    };
  }
  const named = { ...call, name, ...(namespace !== undefined && { namespace }) };
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return kind === "custom"
    ? { ...named, id: newId("ctc"), type: "custom_tool_call" as const, input: text }
    : { ...named, id: newId("fc"), type: "function_call" as const, arguments: text };
};

const reasoningItem = (text: string) => ({
  id: newId("rs"),
  type: "reasoning" as const,
  summary: [{ type: "summary_text", text }] as const,
  encrypted_content: null,
});

const messageItem = (text: string) => ({
  id: newId("msg"),
  type: "message" as const,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }] as const,
});

const itemsOf = ({ thinking, text, calls }: Answer) => [
  ...(thinking ? [reasoningItem(thinking)] : []),
  ...(text ? [messageItem(text)] : []),
  ...calls.map(callItem),
];

type Item = ReturnType<typeof itemsOf>[number];

const whole = (answer: Answer) => {
  const { input, cacheRead, output, reasoning } = answer.usage;
  return {
    id: newId("resp"),
    object: "response",
    created_at: secondsNow(),
    status: "completed",
    model: answer.model,
    output: itemsOf(answer),
    usage: {
      input_tokens: input + cacheRead,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + cacheRead + output,
    },
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tools: [],
  };
};

type Send = (type: string, data: object) => void;

/** The events from `added` to just before `done`. */
const streamItem = async (item: Item, output_index: number, send: Send, to: AnswerStream): Promise<void> => {
  const added = (unfinished: object) =>
    send("response.output_item.added", { output_index, item: { ...item, ...unfinished } });
  const at = { item_id: item.id, output_index };
  if (item.type === "message") {
    const [part] = item.content;
    const inPart = { ...at, content_index: 0 };
    added({ status: "in_progress", content: [] });
    send("response.content_part.added", { ...inPart, part: { ...part, text: "" } });
    await to.text(part.text, (delta) =>
      send("response.output_text.delta", { ...inPart, delta, logprobs: [] }),
    );
    send("response.output_text.done", { ...inPart, text: part.text, logprobs: [] });
    send("response.content_part.done", { ...inPart, part });
  } else if (item.type === "reasoning") {
    const [part] = item.summary;
    const inPart = { ...at, summary_index: 0 };
    added({ summary: [] });
    send("response.reasoning_summary_part.added", { ...inPart, part: { ...part, text: "" } });
    send("response.reasoning_summary_text.delta", { ...inPart, delta: part.text });
    send("response.reasoning_summary_text.done", { ...inPart, text: part.text });
    send("response.reasoning_summary_part.done", { ...inPart, part });
  } else if (item.type === "function_call") {
    added({ status: "in_progress", arguments: "" });
    send("response.function_call_arguments.delta", { ...at, delta: item.arguments });
    send("response.function_call_arguments.done", { ...at, arguments: item.arguments });
  } else {
    added({});
  }
};

/** OpenAI's Responses. */
export const responses: Dialect = {
  name: "responses",
  matches: (path) => path.endsWith("/responses"),
  wantsStream: (_path, { stream }) => stream === true,
  error: openAiError,
  whole,
  async stream(answer, to) {
    let sequence_number = 0;
    const send: Send = (type, data) => to.send({ type, sequence_number: sequence_number++, ...data }, type);
    const response = whole(answer);
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    send("response.created", { response: begun });
    send("response.in_progress", { response: begun });
    for (const [output_index, item] of response.output.entries()) {
      await streamItem(item, output_index, send, to);
      send("response.output_item.done", { output_index, item });
    }
    send("response.completed", { response });
  },
};

import type { ScriptedUsage } from "../script.ts";
import type { ToolCall } from "../tools.ts";
import { type Answer, type Dialect, newId, secondsNow } from "./dialect.ts";
import { openAiError } from "./responses.ts";

const usageOf = ({ input, cacheRead, output, reasoning }: ScriptedUsage) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const toolCall = ({ name, input }: ToolCall) => ({
  id: newId("call"),
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

const headOf = ({ model }: Answer, object: string) => ({
  id: newId("chatcmpl"),
  object,
  created: secondsNow(),
  model,
});

const finishReason = ({ calls }: Answer): string => (calls.length > 0 ? "tool_calls" : "stop");

/** OpenAI's Chat Completions, which many others speak too. */
export const chat: Dialect = {
  name: "chat",
  matches: (path) => path.endsWith("/chat/completions"),
  wantsStream: (_path, { stream }) => stream === true,
  error: openAiError,
  whole: (answer) => ({
    ...headOf(answer, "chat.completion"),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.text ?? null,
          ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(toolCall) }),
        },
        finish_reason: finishReason(answer),
      },
    ],
    usage: usageOf(answer.usage),
  }),
  async stream(answer, to) {
    const head = headOf(answer, "chat.completion.chunk");
    const send = (delta: object, finish_reason: string | null = null) =>
      to.send({ ...head, choices: [{ index: 0, delta, finish_reason }] });
    send({ role: "assistant", content: "" });
    if (answer.thinking) send({ reasoning_content: answer.thinking });
    if (answer.text) await to.text(answer.text, (content) => send({ content }));
    for (const [index, call] of answer.calls.entries()) send({ tool_calls: [{ index, ...toolCall(call) }] });
    send({}, finishReason(answer));
    to.send({ ...head, choices: [], usage: usageOf(answer.usage) });
    to.send("[DONE]");
  },
};

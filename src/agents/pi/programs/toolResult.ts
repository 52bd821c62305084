/** A longer text would fill the model's context. */
const MAX_TEXT_CHARACTERS = 100_000;

/** A part of a tool's result, as MCP has it. */
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: { readonly text?: string; readonly uri?: string };
}

export interface ToolResult {
  readonly content?: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export type PiContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string | undefined; readonly mimeType: string | undefined };

const describe = ({ type, text, uri, resource }: Block): string => {
  if (type === "text") return String(text);
  if (type === "resource") return resource?.text ?? `[resource ${resource?.uri}]`;
  if (type === "resource_link") return `[resource ${uri}]`;
  return `[${type}]`;
};

/** The part of a tool's result that the model sees. */
export const contentOf = ({ content = [], structuredContent }: ToolResult): PiContent[] => {
  let left = MAX_TEXT_CHARACTERS;
  const shown = content.map((block): PiContent => {
    if (block.type === "image") return { type: "image", data: block.data, mimeType: block.mimeType };
    const text = describe(block);
    const missing = text.length - left;
    const kept = missing > 0 ? `${text.slice(0, left)}\n[${missing} more characters were left out]` : text;
    left = Math.max(0, left - text.length);
    return { type: "text", text: kept };
  });
  if (shown.length > 0) return shown;
  if (structuredContent === undefined) return [{ type: "text", text: "[no output]" }];
  return contentOf({ content: [{ type: "text", text: JSON.stringify(structuredContent) }] });
};

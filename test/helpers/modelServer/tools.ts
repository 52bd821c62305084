import type { ScriptedCall } from "./script.ts";

interface Schema {
  readonly properties?: Readonly<
    Record<string, { readonly type?: unknown; readonly enum?: readonly unknown[] }>
  >;
  readonly required?: readonly string[];
}

/** A tool as the dialects describe it, each in its own fields. */
interface ToolDescription {
  readonly type?: string;
  readonly name?: string;
  readonly input_schema?: Schema;
  readonly parameters?: Schema;
  readonly parametersJsonSchema?: Schema;
  readonly function?: ToolDescription;
  readonly functionDeclarations?: readonly ToolDescription[];
  readonly tools?: readonly ToolDescription[];
}

/** What of a request matters here. */
export interface ModelRequestBody {
  readonly [field: string]: unknown;
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly ToolDescription[];
  readonly input?: unknown;
}

/** A `custom` tool takes text instead of JSON; `local_shell` is a tool of the Responses dialect's own. */
type ToolKind = "function" | "custom" | "local_shell";

export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
  readonly kind: ToolKind;
  readonly schema: Schema;
}

export interface ToolCall {
  readonly name: string;
  readonly namespace?: string;
  readonly kind: ToolKind;
  readonly input: unknown;
}

const offered = (tool: ToolDescription, namespace?: string): OfferedTool[] => {
  if (tool.functionDeclarations) return tool.functionDeclarations.flatMap((each) => offered(each));
  if (tool.function) return offered(tool.function);
  if (tool.type === "namespace") return (tool.tools ?? []).flatMap((each) => offered(each, tool.name));
  if (tool.type === "local_shell") return [{ name: "local_shell", kind: "local_shell", schema: {} }];
  if (tool.name === undefined) return [];
  const kind = tool.type === "custom" && !tool.input_schema ? "custom" : "function";
  const schema = tool.input_schema ?? tool.parametersJsonSchema ?? tool.parameters ?? {};
  return [{ name: tool.name, ...(namespace !== undefined && { namespace }), kind, schema }];
};

/** The tools that a request offers, in any dialect. Codex puts them into the input for some models. */
export const offeredTools = ({ tools = [], input }: ModelRequestBody): OfferedTool[] => {
  const items: readonly ToolDescription[] = Array.isArray(input) ? input : [];
  const late = items.filter(({ type }) => type === "additional_tools").flatMap((item) => item.tools ?? []);
  return [...tools, ...late].flatMap((tool) => offered(tool));
};

const SHELLS = ["Bash", "bash", "shell", "shell_command", "exec_command", "local_shell", "run_shell_command"];
const WRITERS = ["Write", "write", "write_file", "create_file", "create"];

const firstOf = (names: readonly string[], tools: readonly OfferedTool[]): OfferedTool | undefined =>
  names
    .map((name) => tools.find((tool) => tool.name === name && tool.kind !== "custom"))
    .find((tool) => tool !== undefined);

const propertyOf = ({ schema }: OfferedTool, names: readonly [string, ...string[]]): string =>
  names.find((name) => name in (schema.properties ?? {})) ?? names[0];

const FILLERS: Readonly<Record<string, unknown>> = {
  boolean: false,
  number: 60_000,
  integer: 60_000,
  array: [],
};

/** A call with everything in it that the tool insists on, e.g. a description. */
const completed = ({ name, namespace, kind, schema }: OfferedTool, input: object): ToolCall => {
  const filled: Record<string, unknown> = { ...input };
  for (const key of schema.required ?? []) {
    const property = schema.properties?.[key];
    filled[key] ??= property?.enum?.[0] ?? FILLERS[String(property?.type).toLowerCase()] ?? "scripted";
  }
  return { name, ...(namespace !== undefined && { namespace }), kind, input: filled };
};

const shellCall = (line: string, tools: readonly OfferedTool[]): ToolCall => {
  const argv = ["bash", "-lc", line];
  const tool = firstOf(SHELLS, tools);
  if (tool?.kind === "local_shell") return completed(tool, { command: argv });
  if (tool) {
    const key = propertyOf(tool, ["command", "cmd", "script"]);
    return completed(tool, { [key]: tool.schema.properties?.[key]?.type === "array" ? argv : line });
  }
  // Codex's "code mode": the one tool runs JavaScript, which calls the others.
  const codeMode = tools.find(({ name, kind }) => name === "exec" && kind === "custom");
  if (!codeMode) throw new Error(`no shell among the tools: ${tools.map(({ name }) => name).join(", ")}`);
  const { name, namespace, kind } = codeMode;
  const input = `const result = await tools.exec_command(${JSON.stringify({ cmd: line })});\ntext(result);\n`;
  return { name, ...(namespace !== undefined && { namespace }), kind, input };
};

/** A scripted call as a call of a tool that the agent offers. */
export const toolCallOf = (call: ScriptedCall, tools: readonly OfferedTool[]): ToolCall => {
  if ("shell" in call) return shellCall(call.shell, tools);
  if ("write" in call) {
    const { path, content } = call.write;
    const tool = firstOf(WRITERS, tools);
    if (!tool) return shellCall(`cat > '${path}' <<'__EOF__'\n${content}\n__EOF__`, tools);
    const pathKey = propertyOf(tool, ["file_path", "filePath", "path"]);
    const contentKey = propertyOf(tool, ["content", "file_text", "text"]);
    return completed(tool, { [pathKey]: path, [contentKey]: content });
  }
  const { namespace, kind = "function" } = tools.find(({ name }) => name === call.name) ?? {};
  return { name: call.name, ...(namespace !== undefined && { namespace }), kind, input: call.input ?? {} };
};

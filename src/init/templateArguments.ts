/** The keys that init fills in. Every other `{{KEY}}` in a template is a placeholder of a prompt, for the run. */
export const TEMPLATE_ARGUMENTS = [
  "AGENT_FACTORY",
  "AGENT",
  "SANDBOX_FACTORY",
  "SANDBOX",
  "SETUP",
  "LIST_TASKS_COMMAND",
  "VIEW_TASK_COMMAND",
  "CLOSE_TASK_STEP",
] as const;

type TemplateArgument = (typeof TEMPLATE_ARGUMENTS)[number];

export type TemplateArguments = Readonly<Record<TemplateArgument, string>>;

const isTemplateArgument = (key: string): key is TemplateArgument =>
  TEMPLATE_ARGUMENTS.some((known) => known === key);

/** Template argument substitution. A value is text: what looks like a key in it stays as it is. */
export const fillIn = (text: string, args: TemplateArguments): string =>
  text.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) =>
    isTemplateArgument(key) ? args[key] : placeholder,
  );

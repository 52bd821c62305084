/** Prompt arguments: values for the placeholders of a prompt template, by key. */
export type PromptArgs = Readonly<Record<string, string | number | boolean>>;

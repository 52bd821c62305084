/** The part of the Standard Schema interface (standardschema.dev) that is used here; Zod, Valibot and ArkType have it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What the agent is to say in a tag of its text, and how that is read. */
export interface OutputDefinition<Value = unknown> {
  readonly tag: string;
  /** The tag holds JSON that has to satisfy it; without a schema, the tag's text is the output. */
  readonly schema?: StandardSchema<Value>;
}

/**
 * Structured output: the agent writes it into a tag of its text, and `result.output` is what was in there, typed. The
 * last such tag of the run counts. The prompt has to ask for it: sanddune never adds anything to a prompt.
 *
 * @example
 * const { output } = await run({
 *   ...options,
 *   prompt: 'Review the diff. Answer with <review>{"approved": true or false}</review>.',
 *   output: Output.object({ tag: "review", schema: z.object({ approved: z.boolean() }) }),
 * });
 */
export const Output = {
  /** JSON that satisfies a schema. */
  object: <Value>(options: {
    readonly tag: string;
    readonly schema: StandardSchema<Value>;
  }): OutputDefinition<Value> => options,
  /** The text in the tag, without the white space around it. */
  string: (options: { readonly tag: string }): OutputDefinition<string> => options,
};

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

/** What a schema makes of a value: another value, or what is wrong with it. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One thing that is wrong with a value. */
export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What the agent is to say in a tag of its text, and how that is read. */
export interface OutputDefinition<Value = unknown> {
  readonly tag: string;
  /** The tag holds JSON that has to satisfy it; without a schema, the tag's text is the output. */
  readonly schema?: StandardSchema<Value>;
  /** How often the agent is asked for a correction, in the same session, if the answer is missing or wrong; 0 when it is left out. */
  readonly maxRetries?: number;
}

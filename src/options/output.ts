/** The part of the Standard Schema interface (standardschema.dev) that sanddune uses. Zod, Valibot and ArkType implement it. */
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

/** The result of a validation: the value, or its problems. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One problem of a value. */
export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The structured output that the agent writes into a tag of its text. */
export interface OutputDefinition<Value = unknown> {
  readonly tag: string;
  /** Validates the JSON in the tag. Without a schema, the text in the tag is the output. */
  readonly schema?: StandardSchema<Value>;
  /** How often the agent is asked, in the same session, to correct a missing or wrong output. Default: 0. */
  readonly maxRetries?: number;
}

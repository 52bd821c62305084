/** The part of JSON Schema 2020-12 that sanddune's own schemas keep to. */
export interface Schema {
  readonly $schema?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  /** What it is called in a problem. */
  readonly title?: string;
  /** With a `pattern`: what would fit it. */
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema | undefined>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly prefixItems?: readonly Schema[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** Objects, each of which requires one key that the others do not have. */
  readonly oneOf?: readonly Schema[];
}

/** What a schema is once its reference is followed. Beside that is only what the value is for, which is for editors. */
export const resolveSchema = (schema: Schema, root: Schema): Schema => {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const target = root.$defs?.[$ref.replace("#/$defs/", "")];
  if (target === undefined) throw new Error(`The schema has no ${$ref}.`);
  return resolveSchema(target, root);
};

/** The keywords of JSON Schema 2020-12 that the validator supports. */
export interface Schema {
  readonly $schema?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  /** The name of the value in a problem. */
  readonly title?: string;
  /** With a `pattern`: describes the texts that match. */
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
  /** Alternative objects. Each requires one key that the others do not have. */
  readonly oneOf?: readonly Schema[];
}

/** Follows the reference of a schema. A reference stands alone, except for a description for editors. */
export const resolveSchema = (schema: Schema, root: Schema): Schema => {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const target = root.$defs?.[$ref.replace("#/$defs/", "")];
  if (target === undefined) throw new Error(`The schema has no ${$ref}.`);
  return resolveSchema(target, root);
};

/** An object type whose members are left out instead of `undefined`. */
export type WithoutUndefined<Value> = {
  [Name in keyof Value as undefined extends Value[Name] ? never : Name]: Value[Name];
} & {
  [Name in keyof Value as undefined extends Value[Name] ? Name : never]?: Exclude<Value[Name], undefined>;
};

/** A copy of an object without the members that are `undefined`. */
export const withoutUndefined = <Value extends object>(value: Value): WithoutUndefined<Value> =>
  Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as WithoutUndefined<Value>;

const NAME = /^[A-Za-z_]\w*$/;
/** The names that the wrapper around every command uses. */
const OWN_NAME = /^_?sanddune_/i;

/** The reason why an env var cannot have this name. */
export const envNameProblem = (name: string): string | undefined => {
  if (!NAME.test(name)) {
    return `${JSON.stringify(name)} is not a name for an env var: letters, digits and _ only, no digit first.`;
  }
  return OWN_NAME.test(name) ? `${name}: names that begin with SANDDUNE_ are reserved.` : undefined;
};

/** The variables that tell git which repository to work on (`git rev-parse --local-env-vars`). */
const LOCAL_VARIABLE =
  /^GIT_(ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_(PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR)$/;

/** The environment of this process without the variables that git sets for hooks. */
export const environmentWithoutRepository = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !LOCAL_VARIABLE.test(name)));

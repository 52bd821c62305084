/** In the environment of a command and of all its descendants: by this they are found and killed. */
export const EXEC_ID_VARIABLE = "SANDDUNE_EXEC_ID";

/** In the environment of everything that runs in a sandbox. */
export const SANDBOX_VARIABLE = "SANDDUNE_SANDBOX";

/** Set for a command and all its descendants, to find and kill them. */
export const EXEC_ID_VARIABLE = "SANDDUNE_EXEC_ID";

/** Set for every process in a sandbox. */
export const SANDBOX_VARIABLE = "SANDDUNE_SANDBOX";

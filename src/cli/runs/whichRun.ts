/** The help text of an argument that names a run. */
export const WHICH_RUN = "its id, or the start or end of it, its name, or its branch";

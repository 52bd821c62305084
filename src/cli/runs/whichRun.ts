/** What the help of a command says about an argument that names a run. */
export const WHICH_RUN = "its id, the beginning or the end of it, its name or its branch";

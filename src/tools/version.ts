declare const SANDDUNE_VERSION: string;

/** The version of the package, which the build inserts. */
export const version: string = SANDDUNE_VERSION;

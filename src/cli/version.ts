declare const SANDDUNE_VERSION: string;

/** Of the package; put in by the build. */
export const version: string = SANDDUNE_VERSION;

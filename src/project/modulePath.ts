/** A sandbox that is named by the file of its provider, and not by a name of sanddune's. */
export const isModulePath = (name: string): boolean => /[/\\]|\.[cm]?[jt]s$/.test(name);

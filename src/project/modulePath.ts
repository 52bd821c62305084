/** Whether a sandbox is given as the module of its provider, not as a name. */
export const isModulePath = (name: string): boolean => /[/\\]|\.[cm]?[jt]s$/.test(name);

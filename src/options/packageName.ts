/** The name that programs import. The executable is called `sanddune`. */
export const PACKAGE_NAME = "@missingstudio/sanddune";

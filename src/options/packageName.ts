/** The package, as programs import it. Its program is called `sanddune`. */
export const PACKAGE_NAME = "@missingstudio/sanddune";

/** Whether the user wants to see where errors come from. */
export const isDebugging = (): boolean => !["", "0", undefined].includes(process.env["SANDDUNE_DEBUG"]);

/** Whether the user wants to see the origin of errors. */
export const isDebugging = (): boolean => !["", "0", undefined].includes(process.env["SANDDUNE_DEBUG"]);

/** The styles of terminal mode, with their codes. */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = (style: keyof typeof CODES, text: string) => string;

export const styled: Style = (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`;
export const plain: Style = (_, text) => text;

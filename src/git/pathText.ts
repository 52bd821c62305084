/** A path as text: paths are read byte by byte as Latin-1, because they need not be UTF-8. */
export const asText = (path: string): string => Buffer.from(path, "latin1").toString("utf8");

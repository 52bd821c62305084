/** The entries of output that git, or `find`, has separated by NUL. */
export const nulSeparated = (output: string): string[] => output.split("\0").filter((entry) => entry !== "");

/** A path in `latin1`, which preserves any bytes, as text. */
export const asText = (path: string): string => Buffer.from(path, "latin1").toString("utf8");

/** A path that is text, in `latin1`. */
export const fromText = (path: string): string => Buffer.from(path, "utf8").toString("latin1");

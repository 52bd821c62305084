/** A path as some file systems compare it: they ignore case, or characters that cannot be seen. */
export const foldPath = (path: string): string =>
  // Almost every path, and much faster.
  /^[\x20-\x7e]*$/.test(path)
    ? path.toLowerCase()
    : path
        .normalize("NFKC")
        .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
        .toUpperCase()
        .toLowerCase();

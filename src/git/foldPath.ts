/** Folds a path as case-insensitive file systems compare it. Some of them also ignore invisible characters. */
export const foldPath = (path: string): string =>
  // The fast path: most names are plain ASCII.
  /^[\x20-\x7e]*$/.test(path)
    ? path.toLowerCase()
    : path
        .normalize("NFKC")
        .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
        .toUpperCase()
        .toLowerCase();

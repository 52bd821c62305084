/** The edit distance of two words. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      const change = (row[column - 1] ?? 0) + (other[column - 1] === letter ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** The beginning of a word, or a word with an ending, also counts as close. */
const isPart = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 3 && (one.startsWith(other) || other.startsWith(one));

/** The known word that a mistyped word most likely stands for. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const wanted = word.slice(0, 100).toLowerCase();
  const [best] = known
    .map((candidate) => ({
      candidate,
      far: isPart(wanted, candidate.toLowerCase()) ? 1 : distance(wanted, candidate.toLowerCase()),
    }))
    .sort((one, other) => one.far - other.far);
  return best !== undefined && best.far <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : undefined;
};

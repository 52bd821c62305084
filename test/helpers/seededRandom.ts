/** Whole numbers below a limit, the same ones for each seed: a failure can be repeated. */
export const seededRandom = (seed: number): ((limit: number) => number) => {
  let state = seed;
  return (limit) => {
    // A linear congruential generator. Its low bits are the least random ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % limit;
  };
};

/** Cuts a text into pieces of random lengths, some of them empty. */
export const cutText = (text: string, random: (limit: number) => number, longest: number): string[] => {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + random(longest + 1);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
};

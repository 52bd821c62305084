/** The number of hashes for two neighbouring characters. */
const TABLE_SIZE = 1 << 16;

const hashAt = (text: string, index: number): number =>
  (text.charCodeAt(index - 1) * 257 + text.charCodeAt(index)) & (TABLE_SIZE - 1);

export interface Found {
  readonly index: number;
  readonly word: string;
}

/**
 * Finds many words in a text in one pass (the algorithm of Wu and Manber). All output of an agent goes through it,
 * and each secret has a dozen forms: a regular expression would take a hundred times as long. It reads two characters
 * at a time, and skips ahead as far as no word can contain them.
 */
export class SecretMatcher {
  /** The length of the shortest word, which limits how far to skip. */
  readonly #span: number;
  readonly #leaps = new Uint8Array(TABLE_SIZE);
  /** The words by the hash of the end of their span, the longest first. */
  readonly #words = new Map<number, string[]>();

  constructor(words: readonly string[]) {
    this.#span = Math.min(255, ...words.map(({ length }) => length));
    this.#leaps.fill(this.#span - 1);
    for (const word of [...words].sort((a, b) => b.length - a.length)) {
      for (let index = 1; index < this.#span; index++) {
        const hash = hashAt(word, index);
        this.#leaps[hash] = Math.min(this.#leaps[hash] as number, this.#span - 1 - index);
      }
      const end = hashAt(word, this.#span - 1);
      this.#words.set(end, [...(this.#words.get(end) ?? []), word]);
    }
  }

  /** The first word in `text` at or after `from`. The longest, if several begin there. */
  find(text: string, from: number): Found | undefined {
    let end = from + this.#span - 1;
    while (end < text.length) {
      const hash = hashAt(text, end);
      const leap = this.#leaps[hash] as number;
      if (leap === 0) {
        const index = end - this.#span + 1;
        const word = this.#words.get(hash)?.find((candidate) => text.startsWith(candidate, index));
        if (word !== undefined) return { index, word };
      }
      end += Math.max(1, leap);
    }
    return undefined;
  }
}

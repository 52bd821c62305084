const MAX_IDS = 1000;
const MAX_LENGTH = 200;

/** Remembers the latest ids that an agent reported, in bounded memory. */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    if (id.length > MAX_LENGTH) return;
    this.#ids.add(id);
    if (this.#ids.size <= MAX_IDS) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }

  clear(): void {
    this.#ids.clear();
  }
}

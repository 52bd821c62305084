/**
 * The time of day, read once in each turn of the event loop. All lines that a process printed at once arrive in one turn:
 * a clock reading and a `Date` for each of them would take longer than the rest of their handling.
 */
export class TurnTime {
  #now: Date | undefined;

  /** The same object until the turn ends. */
  now(): Date {
    if (this.#now === undefined) {
      this.#now = new Date();
      setImmediate(() => {
        this.#now = undefined;
      });
    }
    return this.#now;
  }
}

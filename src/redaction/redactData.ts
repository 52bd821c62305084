import type { Redactor } from "./redactor.ts";

/** The depth limit for an agent's data, which could otherwise overflow the stack. */
const MAX_DEPTH = 200;
const TOO_DEEP = "[nested too deeply]";

/** Redacts data. Visits each object once, even if it occurs twice or contains itself. */
class DataRedactor {
  readonly #copies = new Map<object, unknown>();

  constructor(private readonly redactor: Redactor) {}

  redact(data: unknown, depth = 0): unknown {
    if (typeof data === "string") return this.redactor.text(data);
    if (typeof data === "number" || typeof data === "bigint") {
      const shown = String(data);
      const redacted = this.redactor.text(shown);
      return redacted === shown ? data : redacted;
    }
    if (typeof data !== "object" || data === null || data instanceof Date || ArrayBuffer.isView(data)) {
      return data;
    }
    if (depth > MAX_DEPTH) return TOO_DEEP;
    return this.#copies.get(data) ?? this.#redactObject(data, depth + 1);
  }

  #redactObject(data: object, depth: number): unknown {
    if (data instanceof Error) return this.#redactError(data, depth);
    if (Array.isArray(data)) {
      const copy: unknown[] = [];
      this.#copies.set(data, copy);
      for (const item of data) copy.push(this.redact(item, depth));
      return copy;
    }
    if (data instanceof Map) {
      const copy = new Map();
      this.#copies.set(data, copy);
      for (const [key, value] of data) copy.set(this.redact(key, depth), this.redact(value, depth));
      return copy;
    }
    if (data instanceof Set) {
      const copy = new Set();
      this.#copies.set(data, copy);
      for (const item of data) copy.add(this.redact(item, depth));
      return copy;
    }
    const copy: Record<string, unknown> = {};
    this.#copies.set(data, copy);
    for (const key of Object.keys(data)) {
      // Not an assignment, which has a special meaning for `__proto__`.
      Object.defineProperty(copy, this.redactor.text(key), {
        value: this.#readField(data, key, depth),
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return copy;
  }

  /** In place, because the caller needs the same error object and its class. */
  #redactError(error: Error, depth: number): Error {
    this.#copies.set(error, error);
    for (const key of Object.getOwnPropertyNames(error)) {
      const descriptor = Object.getOwnPropertyDescriptor(error, key);
      // A frozen error, or one with computed fields, stays the same. (The stack is computed in some versions of Node,
      // but it can be set.)
      if (key === "name" || (descriptor?.writable !== true && key !== "stack")) continue;
      Reflect.set(error, key, this.#readField(error, key, depth));
    }
    return error;
  }

  #readField(data: object, key: string, depth: number): unknown {
    try {
      return this.redact(Reflect.get(data, key), depth);
    } catch {
      return undefined;
    }
  }
}

/** A copy of data with all strings redacted, including keys. Errors in it are redacted in place. */
export const redactData = <T>(redactor: Redactor, data: T): T =>
  redactor.isNeeded ? (new DataRedactor(redactor).redact(data) as T) : data;

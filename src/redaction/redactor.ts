import { secretForms } from "./secretForms.ts";
import { type Found, SecretMatcher } from "./secretMatcher.ts";

/** In UTF-8. */
const MAX_BYTES_PER_CHARACTER = 4;

/** Replaces the values of secrets, in all their encoded forms, by their names. */
export class Redactor {
  /** The name of the secret for each form. */
  readonly #names = new Map<string, string>();
  readonly #matcher: SecretMatcher | undefined;
  /** The forms, by their first two characters. */
  readonly #byBeginning = new Map<string, string[]>();
  readonly #longest: number;
  readonly #exempt: string[] = [];

  constructor(
    secrets: ReadonlyMap<string, string>,
    /** Texts that must be shown. A value that is part of one is not redacted. */
    knownTexts: readonly string[] = [],
  ) {
    for (const [name, value] of secrets) {
      const forms = secretForms(value);
      if (forms.size > 0 && knownTexts.some((text) => text.includes(value))) {
        this.#exempt.push(name);
        continue;
      }
      for (const form of forms) if (!this.#names.has(form)) this.#names.set(form, name);
    }
    const forms = [...this.#names.keys()];
    this.#longest = forms.reduce((longest, { length }) => Math.max(longest, length), 0);
    for (const form of forms) {
      const beginning = form.slice(0, 2);
      const others = this.#byBeginning.get(beginning);
      if (others === undefined) this.#byBeginning.set(beginning, [form]);
      else others.push(form);
    }
    if (forms.length > 0) this.#matcher = new SecretMatcher(forms);
  }

  /** The names of values that are not redacted, because they must be shown. */
  get exempt(): readonly string[] {
    return this.#exempt;
  }

  /** Whether there is anything to redact. */
  get isNeeded(): boolean {
    return this.#matcher !== undefined;
  }

  text(text: string): string {
    let redacted = "";
    let end = 0;
    for (;;) {
      const found = this.#matcher?.find(text, end);
      if (found === undefined) return redacted + text.slice(end);
      redacted += `${text.slice(end, found.index)}[redacted ${this.#names.get(found.word)}]`;
      end = this.#endOf(text, found);
    }
  }

  /** For a stream: the redacted text so far, and separately its end, if that may be the beginning of a secret. */
  splitOpen(text: string): { readonly redacted: string; readonly open: string } {
    const openFrom = text.length - this.#openEnd(text);
    const first = this.#matcher?.find(text, 0);
    // Almost every text: it is searched only once.
    if (first === undefined) return { redacted: text.slice(0, openFrom), open: text.slice(openFrom) };
    // An end within a secret belongs to that secret, unless a longer one may begin at the same position.
    for (let from = first.index; ; ) {
      const found = this.#matcher?.find(text, from);
      if (found === undefined || found.index >= openFrom) {
        return { redacted: this.text(text.slice(0, openFrom)), open: text.slice(openFrom) };
      }
      from = found.index + found.word.length;
      if (from > openFrom) {
        const rest = this.splitOpen(text.slice(from));
        return { redacted: this.text(text.slice(0, from)) + rest.redacted, open: rest.open };
      }
    }
  }

  /** The end of a secret, including others that overlap it. */
  #endOf(text: string, { index, word }: Found): number {
    let end = index + word.length;
    for (let from = index + 1; ; ) {
      const next = this.#matcher?.find(text, from);
      if (next === undefined || next.index >= end) return end;
      end = Math.max(end, next.index + next.word.length);
      from = next.index + 1;
    }
  }

  /** The number of characters at the end of a text that may be the beginning of a secret. */
  #openEnd(text: string): number {
    // No form contains a line end.
    if (text.endsWith("\n")) return 0;
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length - 1; at++) {
      const end = text.slice(at);
      const isOpen = this.#byBeginning
        .get(end.slice(0, 2))
        ?.some((form) => form.length > end.length && form.startsWith(end));
      if (isOpen) return end.length;
    }
    const last = text.slice(-1);
    return [...this.#byBeginning.keys()].some((beginning) => beginning.startsWith(last)) ? last.length : 0;
  }

  /** Redacts the end of a text that may have been cut in the middle of a secret. */
  capturedEnd(text: string, captureBytes: number): string {
    if (!this.isNeeded || Buffer.byteLength(text) < captureBytes - MAX_BYTES_PER_CHARACTER)
      return this.text(text);
    const lineEnd = text.indexOf("\n");
    const from = lineEnd === -1 ? this.#longest : Math.min(this.#longest, lineEnd + 1);
    return this.text(text.slice(this.#outsideOfSecrets(text, from)));
  }

  /** The first position from there that is not in the middle of a secret. */
  #outsideOfSecrets(text: string, from: number): number {
    for (let at = 0; ; ) {
      const found = this.#matcher?.find(text, at);
      if (found === undefined || found.index >= from) return from;
      at = this.#endOf(text, found);
      if (at > from) return at;
    }
  }
}

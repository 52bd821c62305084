import { harmless } from "./words.ts";

/** A piece of HTML or XML that is well-formed by itself. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly Value[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const show = (value: Value): string => {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(show).join("");
  return harmless(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
};

/**
 * Puts values into HTML or XML, as content or as quoted attributes. Only what was made with it is markup; everything
 * else is text, whatever it says.
 *
 * @example
 * markup`<a href="${url}">${name}</a>`;
 */
export const markup = (strings: TemplateStringsArray, ...values: readonly Value[]): Markup =>
  new Markup(String.raw({ raw: strings }, ...values.map(show)));

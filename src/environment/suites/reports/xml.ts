/** A part of a document. `end` is the position after it. */
export type XmlEvent =
  | { readonly type: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly type: "close"; readonly name: string; readonly end: number }
  | { readonly type: "text"; readonly text: string };

/** Its message is the end of a sentence that begins with "it". */
export class XmlProblem extends Error {}

const MAX_ATTRIBUTES = 200;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const REFERENCE = /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g;
const MAX_CODE_POINT = 0x10ffff;

const characterOf = (codePoint: number): string =>
  codePoint <= MAX_CODE_POINT ? String.fromCodePoint(codePoint) : "\ufffd";

/** Only the references that need no declaration: declared entities could expand without bound. */
const decode = (text: string): string =>
  text.includes("&")
    ? text.replace(REFERENCE, (_, decimal?: string, hexadecimal?: string, name = "") => {
        if (decimal !== undefined) return characterOf(Number(decimal));
        return hexadecimal === undefined
          ? (NAMED[name] ?? "")
          : characterOf(Number.parseInt(hexadecimal, 16));
      })
    : text;

const NAME = /[^\s/>=<"'&]+/y;
const SPACE = /\s*/y;

/** Ignores namespaces: some runners write `x:testcase`. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

class Reader {
  position = 0;

  constructor(readonly text: string) {}

  startsWith(expected: string): boolean {
    return this.text.startsWith(expected, this.position);
  }

  match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.position += found.length;
    return found;
  }

  /** The text up to `end`, which is skipped. */
  until(end: string): string {
    const index = this.text.indexOf(end, this.position);
    if (index === -1) throw new XmlProblem("ends in the middle of something");
    const passed = this.text.slice(this.position, index);
    this.position = index + end.length;
    return passed;
  }

  name(): string {
    const name = this.match(NAME);
    if (name === "") throw new XmlProblem("is not well-formed XML");
    return name;
  }

  attribute(): [name: string, value: string] {
    const name = this.name();
    this.match(SPACE);
    if (!this.startsWith("=")) throw new XmlProblem(`has an attribute without a value: ${name.slice(0, 80)}`);
    this.position++;
    this.match(SPACE);
    const quote = this.text.charAt(this.position++);
    if (quote !== '"' && quote !== "'") throw new XmlProblem("has an attribute without quotes");
    return [localName(name), decode(this.until(quote))];
  }
}

const openTag = (reader: Reader): XmlEvent[] => {
  const name = localName(reader.name());
  const attributes = new Map<string, string>();
  for (;;) {
    reader.match(SPACE);
    if (reader.position >= reader.text.length) throw new XmlProblem("ends in the middle of something");
    const closes = reader.startsWith("/>");
    if (closes || reader.startsWith(">")) {
      reader.position += closes ? 2 : 1;
      const open: XmlEvent = { type: "open", name, attributes };
      return closes ? [open, { type: "close", name, end: reader.position }] : [open];
    }
    if (attributes.size >= MAX_ATTRIBUTES) throw new XmlProblem("has an element with too many attributes");
    attributes.set(...reader.attribute());
  }
};

/**
 * Reads XML as test runners write it, which is not all of XML: a document type is refused, because a hostile report could use one,
 * and other entities are plain text. Time and memory are linear in the size.
 */
export function* xmlEvents(text: string): Generator<XmlEvent, void, undefined> {
  const reader = new Reader(text);
  while (reader.position < text.length) {
    if (!reader.startsWith("<")) {
      const next = text.indexOf("<", reader.position);
      const end = next === -1 ? text.length : next;
      yield { type: "text", text: decode(text.slice(reader.position, end)) };
      reader.position = end;
    } else if (reader.startsWith("<!--")) {
      reader.position += 4;
      reader.until("-->");
    } else if (reader.startsWith("<![CDATA[")) {
      reader.position += 9;
      yield { type: "text", text: reader.until("]]>") };
    } else if (reader.startsWith("<?")) {
      reader.until("?>");
    } else if (reader.startsWith("<!")) {
      throw new XmlProblem("declares a document type, which is not read");
    } else if (reader.startsWith("</")) {
      reader.position += 2;
      const name = localName(reader.until(">").trim());
      yield { type: "close", name, end: reader.position };
    } else {
      reader.position++;
      yield* openTag(reader);
    }
  }
}

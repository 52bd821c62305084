import { BadArchiveError } from "./tarHeader.ts";

/** Fields of the next entry that do not fit into its header. */
export interface Announced {
  readonly path?: string;
  readonly target?: string;
  readonly size?: number;
}

const bad = () => new BadArchiveError("it has an extended header that cannot be read");

const sizeOf = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw bad();
  return Number(text);
};

const meaningOf = (key: string, value: string): Announced => {
  if (key === "path") return { path: value };
  if (key === "linkpath") return { target: value };
  if (key === "size") return { size: sizeOf(value) };
  // The content of a sparse file is not stored unchanged.
  if (key.startsWith("GNU.sparse")) throw new BadArchiveError("it has sparse files in it");
  return {};
};

/** Reads pax records: `<length of the record> <key>=<value>`, each with a line end. */
export const readExtendedHeader = (text: string): Announced => {
  let announced: Announced = {};
  let rest = text;
  while (rest !== "") {
    const [prefix = "", length = "0"] = /^(\d{1,6}) /.exec(rest) ?? [];
    const record = rest.slice(prefix.length, Number(length));
    const equals = record.indexOf("=");
    if (equals < 1 || !record.endsWith("\n") || Number(length) > rest.length) throw bad();
    announced = { ...announced, ...meaningOf(record.slice(0, equals), record.slice(equals + 1, -1)) };
    rest = rest.slice(Number(length));
  }
  return announced;
};

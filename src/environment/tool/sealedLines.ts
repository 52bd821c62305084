import { createHmac, timingSafeEqual } from "node:crypto";

const SEPARATOR = " ";

const sealOf = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex");

/** A line that only somebody with the key can have written. Who reads it learns nothing of the key. */
export const sealLine = (key: string, text: string): string => `${sealOf(key, text)}${SEPARATOR}${text}`;

/** What a line says; `undefined` if it was not written by somebody with the key. */
export const openLine = (key: string, line: string): string | undefined => {
  const end = line.indexOf(SEPARATOR);
  const text = line.slice(end + 1);
  const [given, expected] = [Buffer.from(line.slice(0, Math.max(0, end))), Buffer.from(sealOf(key, text))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined;
};

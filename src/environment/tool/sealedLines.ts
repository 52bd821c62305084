import { createHmac, timingSafeEqual } from "node:crypto";

const SEPARATOR = " ";

const sealOf = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex");

/** A line with an HMAC. Only a process that has the key can write it, and it does not reveal the key. */
export const sealLine = (key: string, text: string): string => `${sealOf(key, text)}${SEPARATOR}${text}`;

/** The text of a sealed line; `undefined` if the seal is wrong. */
export const openLine = (key: string, line: string): string | undefined => {
  const end = line.indexOf(SEPARATOR);
  const text = line.slice(end + 1);
  const [given, expected] = [Buffer.from(line.slice(0, Math.max(0, end))), Buffer.from(sealOf(key, text))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined;
};

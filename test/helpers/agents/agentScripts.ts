import { randomInt } from "node:crypto";
import { commandLines } from "../processes/processes.ts";

/** What an agent hangs in: a `sleep` that no other process of this machine has. */
export const hang = (): { readonly line: string; isThere(): boolean } => {
  const seconds = randomInt(1_000_000, 9_000_000);
  return {
    line: `sleep ${seconds}`,
    isThere: () => commandLines().includes(`sleep\0${seconds}\0`),
  };
};

/** A line that commits a file of this name. */
export const commits = (name: string): string =>
  `echo ${name} > ${name}.txt; git add ${name}.txt; git commit --quiet -m ${name}`;

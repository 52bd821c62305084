import { nulSeparated } from "./output.ts";

/** A line of a git configuration: `section.subsection.key` and its value. */
export type ConfigEntry = readonly [name: string, value: string];

/** Whether a setting is on, in any of git's spellings. */
export const isTrue = (config: readonly ConfigEntry[], name: string): boolean =>
  ["true", "yes", "on", "1"].includes(config.findLast(([key]) => key === name)?.[1].toLowerCase() ?? "");

const escaped = (text: string): string =>
  text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t");

/** Renders entries as a git configuration file. Values are quoted, so they can hold anything but NUL. */
export const renderConfig = (entries: readonly ConfigEntry[]): string =>
  entries
    .map(([name, value]) => {
      const first = name.indexOf(".");
      const last = name.lastIndexOf(".");
      const section = name.slice(0, first);
      const header =
        first === last ? `[${section}]` : `[${section} "${escaped(name.slice(first + 1, last))}"]`;
      return `${header}\n\t${name.slice(last + 1)} = "${escaped(value)}"\n`;
    })
    .join("");

/** Parses the output of `git config --list -z`. Of a repeated name all values are kept, in order. */
export const parseConfigList = (output: string): ConfigEntry[] =>
  nulSeparated(output).map((entry): ConfigEntry => {
    const end = entry.indexOf("\n");
    return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
  });

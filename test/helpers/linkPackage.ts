import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtCli } from "./built.ts";

/** Installs the built package in a directory, as a link. */
export const linkPackage = (directory: string): void => {
  const link = join(directory, "node_modules/@missingstudio/sanddune");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(dirname(dirname(builtCli())), link);
};

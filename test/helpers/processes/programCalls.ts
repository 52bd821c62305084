import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findProgram } from "../../../src/process/hostPrograms.ts";
import { temporaryDirectory } from "../repository/repository.ts";
import { afterTest } from "./sideBySide.ts";

export interface ProgramCall {
  readonly pid: number;
  readonly args: readonly string[];
}

/**
 * Lists the processes of a program that start from now on, in their order, until the test ends. A stand-in on the PATH notes its
 * arguments and becomes the real program.
 */
export const programCalls = (name: string): (() => ProgramCall[]) => {
  const directory = temporaryDirectory();
  const log = join(directory, "calls");
  const real = findProgram(name);
  const notes = `printf '%s\\037' "$$" "$@" >>'${log}'; printf '\\036' >>'${log}'`;
  writeFileSync(join(directory, name), `#!/bin/sh\n${notes}\nexec '${real}' "$@"\n`);
  chmodSync(join(directory, name), 0o755);
  const path = process.env["PATH"];
  process.env["PATH"] = `${directory}${delimiter}${path}`;
  afterTest(() => {
    process.env["PATH"] = path;
  });
  return () =>
    (existsSync(log) ? readFileSync(log, "utf8") : "")
      .split("\u001e")
      .filter((call) => call !== "")
      .map((call) => {
        const [pid = "", ...args] = call.split("\u001f").slice(0, -1);
        return { pid: Number(pid), args };
      });
};

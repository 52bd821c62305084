import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { processIsAlive, waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const urlOf = (name: string) =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../bench/machine", name)).href);

/** Measures for ever, in a scratch directory. The program that it starts writes its process id. */
const BENCH = `
import { command } from ${urlOf("command.mjs")};
import { withScratchDirectory } from ${urlOf("scratch.mjs")};
await withScratchDirectory(() => command("/bin/sh", "-c", 'echo $$ > "$0"; exec /bin/sleep 600', process.argv[1]));`;

test.each(["SIGINT", "SIGTERM"] as const)(
  "a bench that %s interrupts leaves neither its directories nor its programs behind",
  async (signal) => {
    const [TMPDIR, notes] = [temporaryDirectory(), temporaryDirectory()];
    const note = join(notes, "pid");
    // Without Docker: the test needs none.
    const bench = spawn(process.execPath, ["--input-type=module", "--eval", BENCH, note], {
      env: { TMPDIR, PATH: "/nowhere" },
      stdio: "inherit",
    });
    const exit = once(bench, "exit");
    const pid = () => (existsSync(note) ? Number(readFileSync(note, "utf8")) : 0);
    await waitFor(() => pid() > 0);
    expect(readdirSync(TMPDIR)).toHaveLength(1);
    bench.kill(signal);
    expect(await exit).toEqual([1, null]);
    expect(readdirSync(TMPDIR)).toEqual([]);
    await waitFor(() => !processIsAlive(pid()));
  },
);

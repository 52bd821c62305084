// The tool of this suite: the built command line, on an account on which nothing is set up and that has no keys. What it
// prints, and how it ends, is written down in the project as well, because assertions look at files.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

// Installed for all users, so that it calls itself by its name, and by no path of this machine.
const bin = fileURLToPath(new URL("bin", import.meta.url));
const notes = resolve(".cli");
const home = resolve(notes, "home");
mkdirSync(home, { recursive: true });
writeFileSync(resolve(notes, ".gitignore"), "*\n");

// The runner finds by its own variables what a step has left running.
const environment = Object.entries(process.env).filter(([name]) => /^(PATH|TMPDIR|SANDDUNE_\w+)$/.test(name));
const { status, signal, stdout, stderr } = spawnSync(
  process.execPath,
  [`${bin}/sanddune`, ...process.argv.slice(2)],
  {
    env: { ...Object.fromEntries(environment), HOME: home, PATH: `${bin}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  },
);

writeFileSync(resolve(notes, "stdout"), stdout);
writeFileSync(resolve(notes, "stderr"), stderr);
writeFileSync(resolve(notes, "exit-code"), String(status ?? signal));

process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = status ?? 1;

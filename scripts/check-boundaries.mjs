// Dependencies point one way: a file of src/ imports only from its own room and from those that scripts/house/rooms.mjs
// lists for it. No room is so full that its names cannot be taken in at a glance.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { problemsOfRooms } from "./house/picture.mjs";
import { mayUse, RESTRICTED_PACKAGES, ROOMS, roomOf } from "./house/rooms.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "src");

/** How many files a folder may hold beside its sub-folders. */
const MAX_FILES = 20;

/** The one file that listens for aborts. */
const ABORT_LISTENER = "tools/wait/onAbort.ts";

/** A program that runs in a sandbox: it may start processes there, and the host only ever holds its text. */
const isProgram = (path) => dirname(path).split("/").includes("programs");

/** Everything that differs between operating systems. */
const OPERATING_SYSTEMS = "process/host/";

const problems = problemsOfRooms(root);
const files = readdirSync(source, { recursive: true })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts"));

for (const folder of new Set(files.map(dirname))) {
  const count = files.filter((file) => dirname(file) === folder).length;
  if (count > MAX_FILES)
    problems.push(`src/${folder} has ${count} files: more than ${MAX_FILES} need folders of their own`);
}

for (const file of files) {
  if (!(roomOf(file) in ROOMS)) {
    problems.push(`${file}: the room ${roomOf(file)}/ is not in scripts/house/rooms.mjs`);
    continue;
  }
  const text = readFileSync(join(source, file), "utf8");
  if (text.includes('addEventListener("abort"') && file !== ABORT_LISTENER)
    problems.push(`${file} listens for an abort itself: onAbort() of tools/wait/ does`);
  if (text.includes("process.platform") && !file.startsWith(OPERATING_SYSTEMS))
    problems.push(`${file} looks at the operating system: hostSystem() of ${OPERATING_SYSTEMS} does`);
  for (const [, specifier] of text.matchAll(/(?:^(?:import|export)[^;]*?from\s+|\bimport\()"([^"]+)"/gms)) {
    if (specifier.startsWith(".")) {
      const target = relative(source, resolve(source, dirname(file), specifier));
      if (isProgram(target) && !isProgram(file) && !target.endsWith("?text"))
        problems.push(`${file} imports ${target}: a program for sandboxes is imported as a text, with ?text`);
      if (!target.startsWith("../schemas/") && !mayUse(file, target))
        problems.push(`${file} imports ${target}: ${roomOf(file)}/ must not depend on ${roomOf(target)}/`);
      continue;
    }
    const packageName = specifier.startsWith("node:") ? specifier : specifier.split("/")[0];
    const rooms = RESTRICTED_PACKAGES[packageName];
    if (isProgram(file) && packageName === "node:child_process") continue;
    if (rooms !== undefined && !rooms.some((room) => room === roomOf(file) || file.startsWith(`${room}/`)))
      problems.push(`${file} imports ${specifier}: only ${rooms.join(", ")} may`);
  }
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("boundaries: every import points the right way");

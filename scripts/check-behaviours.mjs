// docs/behaviours.md lists what sanddune promises, each promise with the test that shows it. This checks that every
// named test exists and has passed in the last complete run of the tests.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const results = JSON.parse(readFileSync(`${root}/.cache/test-results.json`, "utf8"));
const requiresAll = process.env.SANDDUNE_REQUIRE_RUNTIMES === "1";

/** `test/git/x.test.ts: part of a title`, in backticks; without a title all tests of the file are meant. */
const REFERENCE = /`(test\/[\w/.-]+\.test\.ts)(?:: ([^`]*))?`/g;

/** Tests that need a cluster are no part of that run: they have to exist, at least. */
const NEEDS_CLUSTER = /^test\/kubernetes\//;
const isWritten = (file, title) =>
  existsSync(`${root}/${file}`) && readFileSync(`${root}/${file}`, "utf8").includes(title);

const problems = [];
let count = 0;
let skipped = 0;
for (const [index, line] of readFileSync(`${root}/docs/behaviours.md`, "utf8").split("\n").entries()) {
  for (const [, file, title = ""] of line.matchAll(REFERENCE)) {
    count++;
    if (NEEDS_CLUSTER.test(file) && isWritten(file, title)) {
      skipped++;
      continue;
    }
    const matching = results.filter((test) => test.file === file && test.name.includes(title));
    const where = `docs/behaviours.md:${index + 1}: ${file}: ${title}`;
    if (matching.length === 0) problems.push(`${where}: there is no such test`);
    else if (matching.some(({ outcome }) => outcome === "failed")) problems.push(`${where}: failed`);
    else if (matching.every(({ outcome }) => outcome === "skipped")) skipped++;
    if (requiresAll && matching.some(({ outcome }) => outcome === "skipped"))
      problems.push(`${where}: was skipped`);
  }
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`behaviours: ${count} references to tests, ${count - skipped} of which ran here`);

// Checks that every test which docs/behaviours/ names has passed in the last complete run of the tests.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseTest, readBehaviours } from "./behaviours/data.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const results = JSON.parse(readFileSync(`${root}/.cache/test-results.json`, "utf8"));
const requiresAll = process.env.SANDDUNE_REQUIRE_RUNTIMES === "1";

/** Tests that need a cluster are not part of that run: they only have to exist. */
const NEEDS_CLUSTER = /^test\/kubernetes\//;
const isWritten = ({ file, title }) => readFileSync(`${root}/${file}`, "utf8").includes(title);

const problems = [];
let count = 0;
let skipped = 0;
for (const { path, promises } of readBehaviours(root).sections) {
  for (const [index, { tests }] of promises.entries()) {
    for (const test of tests) {
      count++;
      const { file, title } = parseTest(test);
      if (NEEDS_CLUSTER.test(file) && isWritten({ file, title })) {
        skipped++;
        continue;
      }
      const matching = results.filter((result) => result.file === file && result.name.includes(title));
      const where = `${path}:${index + 2}: ${test}`;
      if (matching.length === 0) problems.push(`${where}: there is no such test`);
      else if (matching.some(({ outcome }) => outcome === "failed")) problems.push(`${where}: failed`);
      else if (matching.every(({ outcome }) => outcome === "skipped")) skipped++;
      if (requiresAll && matching.some(({ outcome }) => outcome === "skipped"))
        problems.push(`${where}: was skipped`);
    }
  }
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`behaviours: ${count} references to tests, ${count - skipped} of which ran here`);

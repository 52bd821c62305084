// Writes what documents have from elsewhere: examples from docs/examples/. With --check it only says what is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pagesWithExamples } from "./examples.mjs";

const docs = fileURLToPath(new URL("../../docs", import.meta.url));

const outdated = pagesWithExamples(docs).filter(([name, text]) => {
  const file = join(docs, name);
  return !existsSync(file) || readFileSync(file, "utf8") !== text;
});

if (process.argv.includes("--check") && outdated.length > 0) {
  const names = outdated.map(([name]) => `  docs/${name}`).join("\n");
  console.error(`Out of date:\n${names}\nWrite them anew with: npm run docs:generate`);
  process.exit(1);
}
for (const [name, text] of outdated) {
  mkdirSync(dirname(join(docs, name)), { recursive: true });
  writeFileSync(join(docs, name), text);
}
console.log(`documents: ${outdated.length === 0 ? "up to date" : `${outdated.length} written`}`);

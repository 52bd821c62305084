// Writes what documents have from elsewhere: programs from docs/examples/, the reference from the built declarations, the
// promises from docs/behaviours/, and the rooms of CONTRIBUTING.md.
// With --check it only says what is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { problemsOfBehaviours, readBehaviours } from "../behaviours/data.mjs";
import { behavioursPage } from "../behaviours/page.mjs";
import { contributingPage } from "../house/picture.mjs";
import { problemsOf } from "./api/check.mjs";
import { exportedNames } from "./api/exports.mjs";
import { pagesOf } from "./api/pages.mjs";
import { renderPages } from "./api/render.mjs";
import { pagesWithExamples } from "./examples.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const docs = join(root, "docs");

const names = exportedNames(root);
const behaviours = readBehaviours(root);
const problems = [...problemsOf(root, names), ...problemsOfBehaviours(root, behaviours)];
if (problems.length > 0) {
  console.error(`The documents cannot be written:\n${problems.map((line) => `  ${line}`).join("\n")}`);
  process.exit(1);
}

const pages = [
  ...pagesWithExamples(docs),
  ...renderPages(pagesOf(names)),
  ["behaviours.md", behavioursPage(behaviours)],
  ["../CONTRIBUTING.md", contributingPage(root)],
];
const outdated = pages.filter(([name, text]) => {
  const file = join(docs, name);
  return !existsSync(file) || readFileSync(file, "utf8") !== text;
});

if (process.argv.includes("--check") && outdated.length > 0) {
  const names = outdated.map(([name]) => `  ${join("docs", name)}`).join("\n");
  console.error(`Out of date:\n${names}\nWrite them anew with: npm run docs:generate`);
  process.exit(1);
}
for (const [name, text] of outdated) {
  mkdirSync(dirname(join(docs, name)), { recursive: true });
  writeFileSync(join(docs, name), text);
}
console.log(`documents: ${outdated.length === 0 ? "up to date" : `${outdated.length} written`}`);

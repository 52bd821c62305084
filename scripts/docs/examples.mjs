// Pages show whole files of docs/examples/, also where nothing but Markdown is understood: the text is in the page.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** A comment that names the file, and the fenced block after it. */
const EMBEDDED = /^<!-- (examples\/\S+) -->(?:\n\n(`{3,})\w*\n.*?^\2)?$/gms;

const fenced = (file, text) => {
  const fence = text.includes("```") ? "````" : "```";
  return `<!-- ${file} -->\n\n${fence}${extname(file).slice(1)}\n${text.trimEnd()}\n${fence}`;
};

/** The pages with an example, as they have to be: their text by their path below `docs/`. */
export const pagesWithExamples = (docs) =>
  readdirSync(docs)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name, readFileSync(join(docs, name), "utf8")])
    .filter(([, text]) => text.includes("<!-- examples/"))
    .map(([name, text]) => [
      name,
      text.replace(EMBEDDED, (_, file) => fenced(file, readFileSync(join(docs, file), "utf8"))),
    ]);

// The reference as Markdown.
import { wholeExample } from "./examples.mjs";

const headingOf = ({ kind, name }) => (kind === "function" ? `${name}()` : name);

const firstSentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, ".") ?? text;
const inCell = (text) => text.replace(/\s+/g, " ").replaceAll("|", "\\|");
const code = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Where each name is described, as seen from a page. */
const linksOf = (pages) => {
  const places = new Map(
    pages.flatMap(({ name: page, sections }) =>
      sections.flatMap(({ names }) => names.map(({ name }) => [name, { page, anchor: name.toLowerCase() }])),
    ),
  );
  return (name, from) => {
    const place = places.get(name);
    return place && `${place.page === from ? "" : `${place.page}.md`}#${place.anchor}`;
  };
};

/** Words of a type that could be exported names. */
const namesIn = (text, { generics }) =>
  [
    ...new Set([...text.replace(/"[^"]*"/g, "").matchAll(/(?<![.\w])[A-Z]\w+/g)].map(([word]) => word)),
  ].filter((word) => !generics.includes(word));

/** The pages of the reference: their text by their path below `docs/`. */
export const renderPages = (pages) => {
  const all = pages.flatMap(({ sections }) => sections.flatMap(({ names }) => names));
  const linkTo = linksOf(pages);

  const typeCell = (type, entry, page) => {
    const [link] = namesIn(type, entry).flatMap((name) => linkTo(name, page) ?? []);
    const shown = code(inCell(type));
    return link === undefined ? shown : `[${shown}](${link})`;
  };

  const seeAlso = (entry, page) => {
    const links = namesIn([...entry.code, entry.base].join(" "), entry).flatMap((name) => {
      const link = name === entry.name ? undefined : linkTo(name, page);
      return link === undefined ? [] : [`[\`${name}\`](${link})`];
    });
    return links.length === 0 ? [] : [`See ${links.join(", ")}.`];
  };

  const members = (entry, page) =>
    table(
      [entry.kind === "class" ? "field" : "member", "type", "meaning"],
      entry.members.map(({ name, isOptional, type, text }) => [
        code(`${name}${isOptional ? "?" : ""}`),
        typeCell(type, entry, page),
        inCell(text),
      ]),
    );

  const block = (entry, page) =>
    [
      `### ${headingOf(entry)}`,
      entry.text,
      ...(entry.base === undefined ? [] : [`Extends \`${entry.base}\`.`]),
      ...(entry.code.length === 0 ? [] : [`\`\`\`typescript\n${entry.code.join("\n")}\n\`\`\``]),
      ...seeAlso(entry, page),
      ...(entry.members.length === 0 ? [] : [members(entry, page)]),
      ...entry.examples.map((example) => `\`\`\`ts\n${wholeExample(example, all)}\n\`\`\``),
    ].join("\n\n");

  const pageText = ({ name: page, title, intro, sections }) =>
    [
      `# ${title}`,
      intro,
      ...sections.flatMap((section) => [
        `## ${section.title}`,
        ...section.names.map((entry) => block(entry, page)),
      ]),
    ].join("\n\n");

  const overview = [
    "# API reference",
    "Every name that the package exports, made from the types and their comments.",
    ...pages.flatMap(({ name: page, title, sections }) => [
      `## [${title.replace(/^API: (.)/, (_, letter) => letter.toUpperCase())}](${page}.md)`,
      table(
        ["name", "meaning"],
        sections.flatMap(({ names }) =>
          names.map((entry) => [
            `[\`${headingOf(entry)}\`](${page}.md#${entry.name.toLowerCase()})`,
            inCell(firstSentence(entry.text)),
          ]),
        ),
      ),
    ]),
  ].join("\n\n");

  return [["api/README.md", overview], ...pages.map((page) => [`api/${page.name}.md`, pageText(page)])].map(
    ([path, text]) => [path, `${text}\n`],
  );
};

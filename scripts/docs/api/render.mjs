// The reference as Markdown.
import { wholeExample } from "./examples.mjs";

const headingOf = ({ kind, name }) => (kind === "function" ? `${name}()` : name);

const firstSentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, ".") ?? text;
const onOneLine = (text) => text.replace(/\s+/g, " ");
const inline = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

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

  const member = ({ code, text }, entry, page) => {
    const [link] = namesIn(code, entry).flatMap((name) => linkTo(name, page) ?? []);
    const shown = link === undefined ? inline(code) : `[${inline(code)}](${link})`;
    return `- ${shown}${text === "" ? "" : `: ${onOneLine(text)}`}`;
  };

  const seeAlso = (entry, page) => {
    const links = namesIn([...entry.code, entry.base].join(" "), entry).flatMap((name) => {
      const link = name === entry.name ? undefined : linkTo(name, page);
      return link === undefined ? [] : [`[\`${name}\`](${link})`];
    });
    return links.length === 0 ? [] : [`See ${links.join(", ")}.`];
  };

  const block = (entry, page) =>
    [
      `### ${headingOf(entry)}`,
      entry.text,
      ...(entry.base === undefined ? [] : [`Extends \`${entry.base}\`.`]),
      ...(entry.code.length === 0 ? [] : [`\`\`\`typescript\n${entry.code.join("\n")}\n\`\`\``]),
      ...seeAlso(entry, page),
      ...(entry.members.length === 0
        ? []
        : [entry.members.map((each) => member(each, entry, page)).join("\n")]),
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
      sections
        .flatMap(({ names }) => names)
        .map((entry) => {
          const link = `${page}.md#${entry.name.toLowerCase()}`;
          return `- [\`${headingOf(entry)}\`](${link}): ${onOneLine(firstSentence(entry.text))}`;
        })
        .join("\n"),
    ]),
  ].join("\n\n");

  return [["api/README.md", overview], ...pages.map((page) => [`api/${page.name}.md`, pageText(page)])].map(
    ([path, text]) => [path, `${text}\n`],
  );
};

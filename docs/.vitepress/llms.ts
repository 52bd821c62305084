import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SiteConfig } from "vitepress";
import { linkOnSite } from "./links.ts";
import { pageFile, userSections } from "./navigation.ts";

const LINK = /(?<=\]\(|^\[[^\]\n]+\]: )[^)\s]+/gm;
const CODE = /(^(?:`{3,}).*?^`{3,}$)/ms;

/** A directory's page is its README in the repository, and its index on the site. */
const linkTo = (href: string, page: string): string =>
  linkOnSite(href, page).replace(/(?<!:\/\/.*)README\.md(?=#|$)/, "index.md");

/** The page as Markdown, without what only the site understands. Its links lead to other such pages. */
const markdownOf = ({ srcDir }: SiteConfig, source: string, page: string): string =>
  readFileSync(join(srcDir, source), "utf8")
    .replace(/<!--@include: (\S+?)-->/, (_, file: string) => readFileSync(join(srcDir, file), "utf8"))
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(LINK, (href) => linkTo(href, page))))
    .join("");

/** The first sentence below the title. */
const summaryOf = (markdown: string): string => {
  const paragraph = markdown.split(/\n{2,}/).find((text) => !/^(#|<|\||```)/.test(text)) ?? "";
  const text = paragraph.replace(/\s+/g, " ").replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
};

/**
 * For programs that read: every page as Markdown beside its HTML, `llms.txt` with a line about each page for users, and
 * `llms-full.txt` with all of these pages.
 */
export const writeMarkdown = (config: SiteConfig): void => {
  const { outDir, pages, rewrites, site } = config;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
  };
  const texts = new Map(
    pages
      .filter((source) => source !== "index.md")
      .map((source) => [rewrites.map[source] ?? source, source] as const)
      .map(([page, source]) => [page, markdownOf(config, source, page)]),
  );
  for (const [page, text] of texts) write(page, text);
  const sections = userSections().map(({ text, items }) => {
    const lines = items.map((item) => {
      const page = pageFile(item);
      return { page, line: `- [${item.text}](${site.base}${page}): ${summaryOf(texts.get(page) ?? "")}` };
    });
    return { text, lines };
  });
  const overview = sections.map(
    ({ text, lines }) => `## ${text}\n\n${lines.map(({ line }) => line).join("\n")}\n`,
  );
  write("llms.txt", [`# ${site.title}\n\n> ${site.description}\n`, ...overview].join("\n"));
  const all = sections.flatMap(({ lines }) => lines.map(({ page }) => texts.get(page) ?? ""));
  write("llms-full.txt", all.join("\n"));
};

import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { sidebar } from "./navigation.ts";

/** Directories below `docs/` whose files are no pages, though some are Markdown. */
export const WITHOUT_PAGES: readonly string[] = ["examples/", "testing/fixtures/"];

/** Documents at the top of the repository that have a page on the site. */
const PAGES: Readonly<Record<string, string>> = { "../CONTEXT.md": "glossary.md" };

const REPOSITORY = "https://github.com/missingstudio/sanddune/blob/main/";

const titles = new Map(
  sidebar().flatMap(({ items }) => items.map(({ text, link }) => [`${link.slice(1)}.md`, text])),
);

/** The path below `docs/` that a link leads to. Pages of the package name files that are not packed by their address. */
const pathOf = (target: string, page: string): string =>
  target.startsWith(REPOSITORY)
    ? posix.relative("docs", target.slice(REPOSITORY.length))
    : posix.join(posix.dirname(page), target);

/** A link of a page as it is on the site: to another page, or to the file in the repository. */
export const linkOnSite = (href: string, page: string): string => {
  if (/^([a-z]+:|#|\/)/.test(href) && !href.startsWith(REPOSITORY)) return href;
  const [target = "", ...anchor] = href.split(/(?=#)/);
  const path = pathOf(target, page);
  const isPage = path.endsWith(".md") && !["../", ...WITHOUT_PAGES].some((start) => path.startsWith(start));
  const onSite = isPage ? path : PAGES[path];
  const address =
    onSite === undefined
      ? REPOSITORY + posix.join("docs", path)
      : posix.relative(posix.dirname(page), onSite);
  return [address, ...anchor].join("");
};

/** The documents are read in the repository, too, where they call each other by file name. On the site, pages have titles. */
export const links = (md: MarkdownRenderer): void => {
  md.core.ruler.push("links-of-the-site", ({ tokens, env }) => {
    for (const { children } of tokens) {
      children?.forEach((child, index) => {
        if (child.type !== "link_open") return;
        child.attrSet("href", linkOnSite(child.attrGet("href") ?? "", env.relativePath));
        const text = children[index + 1];
        if (text?.type === "text") text.content = titles.get(text.content) ?? text.content;
      });
    }
  });
};

import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { sidebar } from "./navigation.ts";

/** Directories below `docs/` whose files are no pages, though some are Markdown. */
export const WITHOUT_PAGES: readonly string[] = ["examples/", "testing/fixtures/"];

/** Documents at the top of the repository that have a page on the site. */
const PAGES: Readonly<Record<string, string>> = { "../CONTEXT.md": "glossary.md" };

const titles = new Map(
  sidebar().flatMap(({ items }) => items.map(({ text, link }) => [`${link.slice(1)}.md`, text])),
);

/** Pages of the package link so to files that are not packed. */
const IN_REPOSITORY = /^https:\/\/github\.com\/missingstudio\/sanddune\/(?:blob|tree)\/main\//;

/** The link as it is on the site, or `undefined` for a file that the site does not have. */
const onSite = (href: string, page: string): string | undefined => {
  const isAbsolute = /^([a-z]+:|#|\/)/.test(href);
  if (isAbsolute && !IN_REPOSITORY.test(href)) return href;
  const directory = posix.dirname(page);
  const [target = "", anchor] = href.split("#");
  const path = isAbsolute
    ? posix.relative("docs", target.replace(IN_REPOSITORY, ""))
    : posix.join(directory, target);
  const isPage = path.endsWith(".md") && !["../", ...WITHOUT_PAGES].some((start) => path.startsWith(start));
  const onSitePath = isPage ? path : PAGES[path];
  if (onSitePath === undefined) return isAbsolute ? href : undefined;
  return posix.relative(directory, onSitePath) + (anchor === undefined ? "" : `#${anchor}`);
};

/**
 * The documents are read in the repository, too, where they link to its sources, and call each other by file name. On
 * the site a link to a source becomes plain text, or leads to the page that shows the same document; and a page has a
 * title.
 */
export const links = (md: MarkdownRenderer): void => {
  md.core.ruler.push("links-of-the-site", ({ tokens, env }) => {
    for (const token of tokens) {
      let isOutside = false;
      token.children =
        token.children?.filter((child, index, children) => {
          if (child.type === "link_open") {
            const href = onSite(child.attrGet("href") ?? "", env.relativePath);
            isOutside = href === undefined;
            if (href !== undefined) child.attrSet("href", href);
            const text = children[index + 1];
            if (text?.type === "text") text.content = titles.get(text.content) ?? text.content;
          }
          return !isOutside || (child.type !== "link_open" && child.type !== "link_close");
        }) ?? null;
    }
  });
};

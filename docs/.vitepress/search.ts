import type { DefaultTheme } from "vitepress";
import { isForUsers } from "./navigation.ts";

// Both functions are sent to the browser as text, and can use nothing else of this file.

/** A word finds its plural, too. */
const processTerm = (term: string): string => term.toLowerCase().replace(/(?<=x)es$|(?<=\w\w[^s])s$/, "");

/**
 * What is found first: a page before its parts, pages for every user before the glossary, the reference, and the pages
 * for authors of providers.
 */
const boostDocument = (id: string, _term: string, { titles }: Record<string, unknown> = {}): number => {
  const isWhole = Array.isArray(titles) && titles.length === 0;
  return (isWhole ? 2 : 1) * (/\/(glossary|api\/|own-)/.test(id) ? 0.5 : 1);
};

/** The index of the search has the pages for users only: decisions and promises mention every word more often. */
export const search: DefaultTheme.Config["search"] = {
  provider: "local",
  options: {
    miniSearch: { options: { processTerm }, searchOptions: { boostDocument } },
    _render: (source, env, md) => {
      const html = md.render(source, env);
      return isForUsers(env.relativePath) ? html : "";
    },
  },
};

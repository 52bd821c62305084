import type { DefaultTheme } from "vitepress";
import { isForUsers } from "./navigation.ts";

/**
 * What is found first: a page before its parts, pages for every user before the glossary, the reference, and the pages
 * for authors of providers. It is sent to the browser as text, and can use nothing else of this file.
 */
const boostDocument = (id: string, _term: string, { titles = [] }: { titles?: string[] }): number => {
  const ofPage = /\/(glossary|api\/|own-)/.test(id) ? 0.5 : 1;
  return titles.length === 0 ? 2 * ofPage : ofPage;
};

/** The index of the search has the pages for users only: decisions and promises mention every word more often. */
export const search: DefaultTheme.Config["search"] = {
  provider: "local",
  options: {
    miniSearch: { searchOptions: { boostDocument } },
    _render: (source, env, md) => {
      const html = md.render(source, env);
      return isForUsers(env.relativePath) ? html : "";
    },
  },
};

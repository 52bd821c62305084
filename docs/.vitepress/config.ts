import { defineConfig } from "vitepress";
import { scenarioRecordsPlugin } from "../../src/vitepress/plugin.ts";
import { links, WITHOUT_PAGES } from "./links.ts";
import { writeMarkdown } from "./llms.ts";
import { fenceIndentedCode, literalBraces, slugify } from "./markdown.ts";
import { sidebar } from "./navigation.ts";
import { search } from "./search.ts";

export default defineConfig({
  title: "sanddune",
  description: "Hand a prompt to a coding agent in a sandbox, and get commits on a branch.",
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/favicon.svg" }]],
  cacheDir: "../.cache/vitepress",
  vite: { plugins: [scenarioRecordsPlugin({ recordsDir: "testing/runs" })] },
  srcExclude: WITHOUT_PAGES.map((directory) => `${directory}**`),
  rewrites: { "adr/README.md": "adr/index.md", "api/README.md": "api/index.md" },
  buildEnd: writeMarkdown,
  transformHead: ({ pageData, siteData }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: siteData.base + pageData.relativePath }],
  ],
  markdown: {
    anchor: { slugify },
    config: (md) => {
      md.use(links).use(fenceIndentedCode).use(literalBraces);
    },
  },
  themeConfig: {
    nav: [
      { text: "Quick start", link: "/quick-start" },
      { text: "Recipes", link: "/recipes" },
      { text: "Commands", link: "/cli" },
      { text: "API", link: "/api/" },
      { text: "Security", link: "/safety" },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search,
    docFooter: { prev: "Before", next: "Next" },
  },
});

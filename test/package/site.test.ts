import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, posix } from "node:path";
import { runInNewContext } from "node:vm";
import MiniSearch from "minisearch";
import { beforeAll, expect, it } from "vitest";
import { search } from "../../docs/.vitepress/search.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Seconds, where nothing else is going on. */
const BUILD_TIMEOUT_MS = 300_000;
const NOT_IN_THE_NAVIGATION = ["404.html"];

/** The built site: its pages, and all of its other texts, by their path. */
const pages = new Map<string, string>();
const texts = new Map<string, string>();

beforeAll(() => {
  const site = mkdtempSync(join(tmpdir(), "sanddune-site-"));
  try {
    // It fails by itself where a link leads to a page that is not there.
    execFileSync("npm", ["run", "docs:build", "--", "--outDir", site], { cwd: ROOT, stdio: "pipe" });
    for (const name of readdirSync(site, { recursive: true, encoding: "utf8" })) {
      const kind = { ".html": pages, ".md": texts, ".txt": texts, ".js": texts }[extname(name)];
      kind?.set(name, readFileSync(join(site, name), "utf8"));
    }
  } finally {
    rmSync(site, { recursive: true, force: true });
  }
}, BUILD_TIMEOUT_MS);

const attributes = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value = ""]) => value);

/** Pages that the page links to, with the heading if the link names one. */
const linksOf = (name: string, html: string): { page: string; heading: string | undefined }[] =>
  attributes(html, /<a [^>]*href="([^"]*)"/g)
    .filter((href) => !/^[a-z]+:/.test(href))
    .map((href) => {
      const [target = "", heading] = href.split("#");
      const path = target === "" ? name : posix.join("/", posix.dirname(name), target).slice(1);
      const absolute = target.startsWith("/") ? target.slice(1) : path;
      const page = absolute === "" || absolute.endsWith("/") ? `${absolute}index.html` : absolute;
      return { page, heading: heading === undefined ? undefined : decodeURIComponent(heading) };
    });

it("has every page in its navigation", () => {
  const inNavigation = linksOf("quick-start.html", pages.get("quick-start.html") ?? "").map(
    ({ page }) => page,
  );
  const missing = [...pages.keys()].filter((name) => !inNavigation.includes(name));
  expect(missing).toEqual(NOT_IN_THE_NAVIGATION);
});

it("has no link to a missing heading", () => {
  const broken = [...pages].flatMap(([name, html]) =>
    linksOf(name, html)
      .filter(
        ({ page, heading }) =>
          heading !== undefined && heading !== "" && !pages.get(page)?.includes(`id="${heading}"`),
      )
      .map(({ page, heading }) => `${name}: ${page}#${heading}`),
  );
  expect(broken).toEqual([]);
});

it("shows placeholders as they are written", () => {
  expect(pages.get("prompts.html")).toContain("<code>{{KEY}}</code>");
});

it("loads nothing from elsewhere", () => {
  const loaded = [...pages.values()].flatMap((html) =>
    attributes(html, /<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g),
  );
  expect(loaded.length).toBeGreaterThan(0);
  expect(loaded.filter((address) => /^(https?:)?\/\//.test(address))).toEqual([]);
});

/** The search as VitePress does it in a browser: its own settings, and then those of the site. */
const openSearch = (): MiniSearch => {
  const [, script = ""] = [...texts].find(([name]) => name.includes("localSearchIndex")) ?? [];
  const [, json = ""] = /^const \w+=(.*);export\b/s.exec(script) ?? [];
  const settings = search?.provider === "local" ? search.options?.miniSearch : undefined;
  return MiniSearch.loadJSON(runInNewContext(json), {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: {
      fuzzy: 0.2,
      prefix: true,
      boost: { title: 4, text: 2, titles: 1 },
      ...settings?.searchOptions,
    },
    ...settings?.options,
  });
};

it.each([
  ["docker", "/sandboxes.html#docker"],
  ["abort", "/errors.html#aborting"],
  ["hooks", "/hooks.html#hooks"],
  ["sandbox", "/sandboxes.html#sandboxes"],
  ["RunOptions", "/api/entry-points.html#runoptions"],
])("finds for %s the page that is about it, and pages for users only", (words, page) => {
  const found = openSearch()
    .search(words)
    .map(({ id }) => id);
  expect(found[0]).toBe(page);
  expect(found.filter((id) => /^\/(adr|testing|behaviours)/.test(id))).toEqual([]);
});

it("has every page as Markdown, whose links lead to other such pages", () => {
  const missing = [...pages.keys()].filter((name) => !texts.has(name.replace(/html$/, "md")));
  expect(missing).toEqual(["404.html", "index.html"]);
  const markdown = [...texts].filter(([name]) => name.endsWith(".md"));
  const broken = markdown.flatMap(([name, text]) =>
    [...text.replace(/^(`{3,}).*?^\1$/gms, "").matchAll(/\]\(([^)#:\s]+\.md)/g)]
      .map(([, target = ""]) => posix.join(posix.dirname(name), target))
      .filter((target) => !texts.has(target))
      .map((target) => `${name}: ${target}`),
  );
  expect(broken).toEqual([]);
});

it("has an overview and all pages for users in one text, for programs that read", () => {
  const listed = [...(texts.get("llms.txt") ?? "").matchAll(/^- \[.+\]\(\/(.+)\): .+\.$/gm)].map(
    ([, page = ""]) => page,
  );
  expect(listed).toEqual(expect.arrayContaining(["quick-start.md", "run.md", "glossary.md"]));
  expect(listed.filter((page) => !texts.has(page))).toEqual([]);
  expect(listed.filter((page) => page.startsWith("adr/"))).toEqual([]);
  for (const page of listed) expect(texts.get("llms-full.txt")).toContain(texts.get(page));
});

it("has an icon", () => {
  expect(pages.get("index.html")).toContain('href="/favicon.svg"');
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { beforeAll, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Seconds, where nothing else is going on. */
const BUILD_TIMEOUT_MS = 300_000;
const NOT_IN_THE_NAVIGATION = ["404.html"];

/** The pages of the built site: their text by their path. */
const pages = new Map<string, string>();

beforeAll(() => {
  const site = mkdtempSync(join(tmpdir(), "sanddune-site-"));
  try {
    // It fails by itself where a link leads to a page that is not there.
    execFileSync("npm", ["run", "docs:build", "--", "--outDir", site], { cwd: ROOT, stdio: "pipe" });
    for (const name of readdirSync(site, { recursive: true, encoding: "utf8" })) {
      if (name.endsWith(".html")) pages.set(name, readFileSync(join(site, name), "utf8"));
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

it("has no link to a heading that is not there", () => {
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

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { slugify } from "../../docs/.vitepress/markdown.ts";

const ROOT = join(import.meta.dirname, "../..");
const IN_REPOSITORY = /^https:\/\/github\.com\/missingstudio\/sanddune\/(?:blob|tree)\/main\//;

const withoutCode = (text: string): string => text.replace(/^( *)```.*?^\1```$/gms, "");

const linksIn = (text: string): string[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
    ([, inline, reference]) => inline ?? reference ?? "",
  );

const hasHeading = (file: string, heading: string): boolean =>
  [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)].some(
    ([, text = ""]) => slugify(text) === heading,
  );

/**
 * Links of a Markdown file that lead nowhere: to no file beside it, to no heading, or to no file of the repository
 * where the link is one to the code host.
 */
export const brokenLinks = (directory: string, file: string): string[] =>
  linksIn(readFileSync(join(directory, file), "utf8"))
    .filter((href) => IN_REPOSITORY.test(href) || !/^[a-z]+:/.test(href))
    .filter((href) => {
      const [path = "", heading] = href.split("#");
      const target = IN_REPOSITORY.test(path)
        ? join(ROOT, path.replace(IN_REPOSITORY, ""))
        : join(directory, path === "" ? file : join(dirname(file), path));
      return !existsSync(target) || (heading !== undefined && !hasHeading(target, heading));
    })
    .map((href) => `${file}: ${href}`);

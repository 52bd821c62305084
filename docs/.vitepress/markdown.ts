import type { MarkdownRenderer } from "vitepress";

/** As on GitHub, where the same documents are read: a link to a heading has to work in both places. */
export const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/** Indented code looks like fenced code. */
export const fenceIndentedCode = (md: MarkdownRenderer): void => {
  md.renderer.rules.code_block = (...args) => md.renderer.rules.fence?.(...args) ?? "";
};

/** Vue would evaluate `{{KEY}}`, which the documents only speak of. */
export const literalBraces = (md: MarkdownRenderer): void => {
  for (const name of ["text", "code_inline"]) {
    const render = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => (render?.(...args) ?? "").replaceAll("{{", "&#123;&#123;");
  }
};

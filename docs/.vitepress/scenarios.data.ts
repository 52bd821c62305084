import { basename } from "node:path";
import { createContentLoader } from "vitepress";
import { findSpecBlock } from "../../src/scenarios/pages/specBlock.ts";
import type { Runnable } from "../../src/scenarios/spec.ts";

/** A scenario with its page on this site. */
interface ScenarioPage {
  readonly id: string;
  readonly title: string;
  readonly link: string;
  readonly runnable: Runnable;
}

/** What `load` has found when the site was built. */
export declare const data: readonly ScenarioPage[];

const runnableOf = (text: string): Runnable => {
  const block = findSpecBlock(text.split("\n"));
  return block === undefined ? "manual" : JSON.parse(block.text).runnable;
};

export default createContentLoader("testing/scenarios/*.md", {
  includeSrc: true,
  transform: (pages): readonly ScenarioPage[] =>
    pages
      .map(({ url, src = "", frontmatter }) => {
        const id = String(frontmatter["test_id"] ?? frontmatter["id"] ?? basename(url, ".html"));
        return { id, title: /^# (.*)$/m.exec(src)?.[1] ?? id, link: url, runnable: runnableOf(src) };
      })
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
});

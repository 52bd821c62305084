import records from "virtual:scenario-records";
import { type Theme, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import { scenarioRecords } from "../../../src/vitepress/index.ts";
import { data } from "../scenarios.data.ts";
import "./style.css";

const installLine = () =>
  h("pre", { class: "home-install" }, "npm install --save-dev @missingstudio/sanddune\nnpx sanddune init");

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "home-hero-actions-after": installLine }),
  enhanceApp: ({ app }) => {
    const scenarios = data.map(({ link, ...name }) => ({ ...name, link: withBase(link) }));
    app.use(scenarioRecords(records, { scenarios }));
  },
} satisfies Theme;

/// <reference types="vite/types/importMeta.d.ts" />
import { type Theme, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { scenarioRecords } from "../../../src/vitepress/index.ts";
import { data } from "../scenarios.data.ts";
import "./style.css";

const records = import.meta.glob("../../testing/runs/**/*.json", {
  eager: true,
  query: "?raw",
  import: "default",
});

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    const scenarios = data.map(({ link, ...name }) => ({ ...name, link: withBase(link) }));
    app.use(scenarioRecords(records, { scenarios }));
  },
} satisfies Theme;

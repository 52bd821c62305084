import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { linkPackage } from "../helpers/linkPackage.ts";
import { runRecord } from "../scenarios/report/reportRecords.ts";

const ROOT = join(import.meta.dirname, "../..");

it("has components for a site, which use the Vue that the site has", () => {
  builtCli();
  const program = `
import { createSSRApp, h, resolveComponent } from "vue";
import { renderToString } from "vue/server-renderer";
import { scenarioRecords } from "@missingstudio/sanddune/vitepress";
const app = createSSRApp({
  render: () => [h(resolveComponent("LatestRunsSummary")), h(resolveComponent("RunRecords"), { "test-id": "first" })],
});
const load = async () => ({ records: [${JSON.stringify(runRecord())}], unreadable: [] });
app.use(scenarioRecords({ summary: load, scenarios: { first: load } }));
console.log(await renderToString(app));`;
  const html = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(html.match(/✓ passing/g)).toHaveLength(2);
});

it("builds a site with the documented theme, also if a record is broken, and says which", () => {
  builtCli();
  const site = mkdtempSync(join(tmpdir(), "sanddune-site-"));
  onTestFinished(() => rmSync(site, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(site, path)), { recursive: true });
    writeFileSync(join(site, path), text);
  };
  const documented = readFileSync(join(ROOT, "docs/scenario-ci.md"), "utf8");
  const sample = (name: string) =>
    new RegExp(`\`\`\`js\n(import { ${name} }.*?)\`\`\``, "s").exec(documented)?.[1] ?? "";
  write("docs/.vitepress/config.ts", sample("scenarioRecordsPlugin"));
  write("docs/.vitepress/theme/index.ts", sample("scenarioRecords"));
  write("docs/index.md", '# Site\n\n<LatestRunsSummary />\n\n<RunRecords test-id="first" />\n');
  write("docs/testing/runs/first/2026-01-02T03-04-05-000Z.json", JSON.stringify(runRecord()));
  write("docs/testing/runs/first/2.json", '{"broken');
  write("package.json", '{ "type": "module" }');
  linkPackage(site);
  for (const name of ["vitepress", "vue"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(site, "node_modules", name));
  }
  const vitepress = join(ROOT, "node_modules/vitepress/bin/vitepress.js");
  execFileSync(process.execPath, [vitepress, "build", "docs"], { cwd: site, stdio: "pipe" });
  const html = readFileSync(join(site, "docs/.vitepress/dist/index.html"), "utf8");
  expect(html.match(/✓ passing/g)).toHaveLength(2);
  expect(html.match(/no records: [^<]*first\/2\.json/g)).toHaveLength(2);
  // The theme is loaded with every page: nothing that happened in an execution is in it.
  const assets = join(site, "docs/.vitepress/dist/assets");
  const holding = readdirSync(assets, { recursive: true }).filter((name) => {
    const path = join(assets, String(name));
    return path.endsWith(".js") && readFileSync(path, "utf8").includes("a file of 3 bytes");
  });
  expect(holding).toEqual([expect.stringMatching(/^chunks\/first\./)]);
}, 120_000);

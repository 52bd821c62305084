import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ScenarioSpec } from "../../../src/scenarios/spec.ts";
import { sandboxFlags } from "../../cli/runs/hangingRuns.ts";
import { makeSuite, recordOf, runScenarios, sh, spec } from "../../cli/scenario/scenarioSuites.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { formsIn, SECRET } from "../secrets/traces.ts";

useOwnTemporaryDirectory();

const FLAGS = ["--runnable=agent", "--agent-command", "sh -s", ...sandboxFlags("bubblewrap")];
const REPORTS = ["report.html", "junit.xml", "summary.md"];
const REPORT_FLAGS = REPORTS.flatMap((file) => ["--report", file]);

const MAX_RECORD_BYTES = 64 * 1024;

const told = (script: string, parts: Partial<ScenarioSpec> = {}): ScenarioSpec =>
  spec({ runnable: "agent", steps: [{ agent: "work", prompt: script }], ...parts });

/** Sets the title of a terminal and its clipboard, clears it, and ends whatever element of a page it stands in. */
const HOSTILE =
  "\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\033[2J\\202\\233]]>--></pre></td></system-out></testcase><script>alert(1)</script><img src=x onerror=alert(1)>`|[x](javascript:alert(1))@everyone&amp;";

describeWith(["bubblewrap", "tmux"], "At a terminal", () => {
  test("An agent's output and file names control neither a terminal nor a page", async () => {
    const hostile = told(
      `printf '${HOSTILE}\\n'; printf '${HOSTILE}\\n' >&2; git init -q
touch "$(printf '\\033]0;owned\\007<script>alert(1)</script>')"; printf '${HOSTILE}' > out.txt; exit 7`,
      {
        assertions: [
          { git_clean: true },
          { file_contains: { path: "out.txt", substr: "none" } },
          { cmd_zero: ["sh", "-c", "cat out.txt; exit 1"] },
        ],
      },
    );
    const cwd = makeSuite({ pages: { hostile } });
    const command = [
      "node",
      builtCli(),
      "scenario",
      "run",
      ...FLAGS.map((flag) => `'${flag}'`),
      ...REPORT_FLAGS,
    ];
    const terminal = startTerminal(command.join(" "), { cwd, columns: 200, rows: 50 });
    expect(await terminal.ended()).toBe(1);
    expect(terminal.history()).toContain("\\u001b]0;owned");
    expect(terminal.bytes()).not.toMatch(/\u001b\](0|52);|\u001b\[2J/);
    expect(terminal.title()).not.toContain("owned");
    expect(terminal.clipboard()).toBe("");
    const [html = "", junit = "", markdown = ""] = REPORTS.map((file) =>
      readFileSync(join(cwd, file), "utf8"),
    );
    for (const report of [html, junit, markdown]) {
      expect(report).toContain("owned");
      expect(report).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      expect(report).not.toMatch(/<(script>alert|img )/);
    }
    expect(html).not.toContain("]]>--></pre>");
    expect(junit.match(/<\/testcase>/g)).toHaveLength(1);
    expect(markdown).not.toMatch(/\[x\]\(javascript:|(?<!\\)@everyone/);
    expect(readdirSync(join(cwd, "runs/hostile")).join()).toMatch(/^[\dTZ-]+\.json$/);
  });
});

describeWith(["bubblewrap"], "Much output", () => {
  test("However much is printed, a record stays small", async () => {
    const flood = spec({
      steps: [sh("head -c 100000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero >&2")],
    });
    const lines = told("yes 'a line that says nothing' | head -n 1000000");
    const cwd = makeSuite({ pages: { flood, lines } });
    expect(await runScenarios(cwd, ["--runnable=any", ...FLAGS.slice(1)])).toMatchObject({ exitCode: 0 });
    for (const id of ["flood", "lines"]) {
      const [name = ""] = readdirSync(join(cwd, "runs", id));
      expect(statSync(join(cwd, "runs", id, name)).size).toBeLessThan(MAX_RECORD_BYTES);
      expect(recordOf(cwd, id).result).toBe("passing");
    }
  });
});

/** Prints the secret in all forms. */
const PRINTS_ALL = `
printf '%s\\n' "$THE_TOKEN"
printf %s "$THE_TOKEN" | base64
printf 'user:%s' "$THE_TOKEN" | base64
printf %s "$THE_TOKEN" | base64 | tr '+/' '-_'
node -e 'const s = process.env.THE_TOKEN; console.log(JSON.stringify({ s }), encodeURIComponent(s))'`;

/** What is left of the secret when a text is cut off within it, at either end. */
const PARTS = [SECRET.slice(4, 14), SECRET.slice(-12)];

const pad = (length: number, character: string) => `head -c ${length} /dev/zero | tr '\\0' ${character}`;

/** Records show the last 8000 characters: the secret begins before these, and ends in them. */
const PRINTS_CUT = `printf %s "$THE_TOKEN"; ${pad(7985, "x")}; echo`;

/** Which forms, or parts, of the secret are where. */
const leaksIn = (texts: Readonly<Record<string, string>>): string[] =>
  Object.entries(texts).flatMap(([place, text]) => [
    ...formsIn(text).map((form) => `${place}: ${form}`),
    ...PARTS.filter((part) => text.includes(part)).map((part) => `${place}: ${part}`),
  ]);

test("Keys of the environment are not in a record, not even in part where an output is cut off", async () => {
  const cwd = makeSuite({ pages: { cut: spec({ steps: [sh(PRINTS_CUT), sh(PRINTS_ALL)] }) } });
  expect(await runScenarios(cwd, [], { env: { THE_TOKEN: SECRET } })).toMatchObject({ exitCode: 0 });
  const record = JSON.stringify(recordOf(cwd, "cut"));
  expect(record).toContain("[redacted THE_TOKEN]");
  expect(leaksIn({ record })).toEqual([]);
});

test("A long key that is printed again and again, and cut off in its middle, is not in a record", async () => {
  const key = Array.from({ length: 500 }, (_, index) => `k${index}-`).join("");
  const prints = 'i=0; while [ $i -lt 60 ]; do printf %s "$LONG_TOKEN"; i=$((i + 1)); done';
  const cwd = makeSuite({ pages: { long: spec({ steps: [sh(prints)] }) } });
  expect(await runScenarios(cwd, [], { env: { LONG_TOKEN: key } })).toMatchObject({ exitCode: 0 });
  const record = JSON.stringify(recordOf(cwd, "long"));
  expect(record).toContain("[redacted LONG_TOKEN]");
  expect(record).not.toContain("k250-k251-");
  expect(record).not.toContain("k498-k499-");
});

describeWith(["bubblewrap"], "An agent in bubblewrap", () => {
  test("Secrets of an agent are in no record and in no report, in whatever form it gives them away", async () => {
    const pages = {
      prints: told(`{ ${PRINTS_ALL}\n} | tee out.txt; { ${PRINTS_ALL}\n} >&2`, {
        assertions: [
          { file_contains: { path: "out.txt", substr: "none" } },
          { cmd_zero: ["sh", "-c", "cat out.txt out.txt >&2; exit 1"] },
          { git_clean: true },
        ],
      }),
      "cut-output": told(PRINTS_CUT),
      // Details show 300 characters, from the beginning of a file, and from the end of what is printed.
      "cut-details": told(`{ ${pad(285, "y")}; printf %s "$THE_TOKEN"; ${pad(285, "z")}; } > out.txt`, {
        assertions: [
          { file_contains: { path: "out.txt", substr: "none" } },
          { file_matches: { path: "out.txt", regex: "none" } },
          { cmd_zero: ["sh", "-c", "cat out.txt; exit 1"] },
        ],
      }),
    };
    const cwd = makeSuite({ pages, files: { ".sanddune/.env": `THE_TOKEN='${SECRET}'\n` } });
    const { exitCode, stdout, stderr } = await runScenarios(cwd, [
      ...FLAGS,
      ...REPORT_FLAGS,
      "--read-only-path",
      join(process.execPath, "../.."),
      "--path",
      `${join(process.execPath, "..")}:/usr/bin:/bin`,
    ]);
    expect(exitCode).toBe(1);
    const texts = {
      stdout,
      stderr,
      ...Object.fromEntries(REPORTS.map((file) => [file, readFileSync(join(cwd, file), "utf8")])),
      ...Object.fromEntries(Object.keys(pages).map((id) => [id, JSON.stringify(recordOf(cwd, id))])),
    };
    expect(texts.stdout + JSON.stringify(recordOf(cwd, "prints"))).toContain("[redacted THE_TOKEN]");
    expect(leaksIn(texts)).toEqual([]);
  });
});

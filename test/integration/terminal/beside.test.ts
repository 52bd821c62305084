import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const LONG = "word ".repeat(30).trim();

/** A program with runs in terminal mode that prints on its own account meanwhile. */
const startProgram = (columns: number, names: readonly string[], meanwhile: string) => {
  const built = dirname(builtCli());
  const cwd = temporaryRepository();
  const path = join(temporaryDirectory(), "program.mjs");
  writeFileSync(
    path,
    `import { run, scripted } from ${JSON.stringify(join(built, "index.js"))};
    import { testIsolated } from ${JSON.stringify(join(built, "sandboxes/test-isolated.js"))};
    const fix = (name) => run({
      agent: scripted([{ text: "On it." }, { shell: "sleep 0.4" }, { shell: "sleep 0.4" }, { text: "Done." }]),
      sandbox: testIsolated(),
      cwd: ${JSON.stringify(cwd)},
      branchStrategy: { type: "branch", branch: name },
      name,
      prompt: "x",
      logging: {
        type: "stdout",
        onAgentStreamEvent: (event) => {
          if (event.type === "toolCall") console.error("heard", name);
        },
      },
    });
    ${meanwhile}
    await Promise.all(${JSON.stringify(names)}.map(fix));
    console.log("over");
    process.exit();`,
  );
  const program = `${shellQuote(process.execPath)} ${shellQuote(path)}`;
  // One that dies leaves its sandbox behind.
  const env = { TMPDIR: temporaryDirectory() };
  return startTerminal(`echo "$ start"; ${program}`, { cwd, columns, env });
};

describeWith(["tmux"], "what the calling program prints while a run is shown", () => {
  it.each([80, 33])("stays, each line once, above the status lines, %d columns wide", async (columns) => {
    const names = ["one", "two"];
    const terminal = startProgram(
      columns,
      names,
      `let count = 0;
      setInterval(() => {
        console.log("mine", count);
        console.error("error", count++, ${JSON.stringify(LONG)});
      }, 37);`,
    );
    await terminal.until((screen) => new RegExp(`error \\d[\\s\\S]*\n${SPINNER.source} `).test(screen));
    expect(await terminal.ended()).toBe(0);
    const history = terminal.history();
    expect(history).not.toMatch(SPINNER);
    const rows = history.split("\n");
    for (const name of names) expect(rows.filter((row) => row === `heard ${name}`)).toHaveLength(2);
    const printed = history.match(/^(mine|error) \d+/gm) ?? [];
    const ticks = printed.length / 2;
    expect(ticks).toBeGreaterThan(5);
    expect(printed).toEqual(
      Array.from({ length: ticks }, (_, count) => [`mine ${count}`, `error ${count}`]).flat(),
    );
    expect(history.replace(/\s/g, "").split(LONG.replace(/\s/g, ""))).toHaveLength(ticks + 1);
  });

  it("may come in pieces of a line, which are not torn apart by a status line", async () => {
    const terminal = startProgram(
      80,
      ["one"],
      `process.stdout.write("first\\n");
      setTimeout(() => process.stdout.write("half a "), 300);
      setTimeout(() => process.stdout.write("line\\n"), 550);`,
    );
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).not.toMatch(SPINNER);
    // A line of the run may come between (tmux drops the space before it); a status line, or a lost piece, may not.
    expect(terminal.history()).toMatch(/^half a( line$|\n(\[one\] .*\n|heard one\n)+line$)/m);
  });

  it("is the error that it dies of, in a row of its own", async () => {
    const terminal = startProgram(80, ["one"], `setTimeout(() => { throw new Error("my own") }, 500);`);
    expect(await terminal.ended()).toBe(1);
    expect(terminal.history()).toMatch(/^file:.*program\.mjs:\d+$/m);
    expect(terminal.history()).not.toMatch(SPINNER);
  });
});

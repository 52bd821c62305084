import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { childRuns, sanddune } from "../run/childRuns.ts";

const ESCAPE = "\u001b";
const PAYLOADS = {
  clipboard: `${ESCAPE}]52;c;${Buffer.from("stolen").toString("base64")}\u0007`,
  title: `${ESCAPE}]0;owned\u0007${ESCAPE}]2;owned${ESCAPE}\\`,
  screen: `${ESCAPE}[2J${ESCAPE}[3J${ESCAPE}[H${ESCAPE}c`,
  cursor: `${ESCAPE}[10A${ESCAPE}[?25lover${ESCAPE}[5;5H`,
  alternate: `${ESCAPE}[?1049h`,
  line: "good news\rbad",
  c1: "\u009b2J\u009d0;owned\u009c",
  direction: "\u202eesrever\u2066",
};
const HOSTILE = Object.values(PAYLOADS).join("");
/** In octal, as `printf` understands it. */
const PRINT_HOSTILE = `printf '${[...Buffer.from(HOSTILE)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}\\n'`;

/** What is sanddune's own: colours, going up to the status lines, erasing them. */
const OWN_SEQUENCE = /\u001b\[[0-9;]*[mAJK]/g;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const expectUnharmed = (terminal: Terminal): void => {
  expect(terminal.clipboard()).toBe("");
  expect(terminal.title()).not.toContain("owned");
  expect(terminal.screen()).toContain("before the run");
  expect(terminal.screen()).toContain("52;c;");
  const bytes = terminal.bytes();
  expect(bytes.replaceAll(OWN_SEQUENCE, "")).not.toMatch(CONTROLS);
  // The terminal itself ends lines with both; alone, it goes back to the status line, which is then erased.
  expect(bytes.replaceAll(/\r\n|\r(?=\u001b\[)/g, "")).not.toContain("\r");
};

const start = (command: string, cwd: string) =>
  startTerminal(`echo before the run; ${command}`, { cwd, rows: 100 });

describeWith(["bubblewrap", "tmux"], "a hostile agent at a terminal", () => {
  it("could do harm if its output were shown as it is", async () => {
    const terminal = startTerminal(`echo before the run; ${PRINT_HOSTILE}`);
    await terminal.ended();
    expect(terminal.clipboard()).toContain("stolen");
    expect(terminal.title()).toBe("owned");
    expect(terminal.screen()).not.toContain("before the run");
  });

  it("does none by what it says, what it calls, what its tools print, or what it complains about", async () => {
    const cwd = temporaryRepository();
    const steps = [
      { text: HOSTILE },
      { shell: `: ${HOSTILE}` },
      { shell: PRINT_HOSTILE },
      { shell: `${PRINT_HOSTILE} >&2` },
    ];
    const terminal = start(childRuns({ cwd, steps, logging: { type: "stdout", verbose: true } }), cwd);
    expect(await terminal.ended()).toBe(0);
    expectUnharmed(terminal);
    expect(terminal.screen().match(/52;c;/g)?.length).toBeGreaterThanOrEqual(steps.length);
  });

  it("does none by the names of its files, nor by its last words", async () => {
    const cwd = temporaryRepository();
    const name = `.husky/$(${PRINT_HOSTILE.replace("\\\\n", "")})`;
    writeFileSync(
      join(cwd, "agent.sh"),
      `mkdir .husky; touch "${name}"; git add .; git commit -qm x; ${PRINT_HOSTILE} >&2; exit 3\n`,
    );
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add the agent");
    const run = ["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--prompt", "x"];
    const terminal = start(sanddune(...run), cwd);
    expect(await terminal.ended()).toBe(1);
    expect(terminal.screen()).toMatch(/Careful +these run automatically/);
    expectUnharmed(terminal);
  });
});

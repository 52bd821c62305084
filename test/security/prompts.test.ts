import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, type RunOptions, type RunResult, run } from "../../src/index.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { failureOf, SANDBOXES, type SandboxName, STRATEGIES } from "./support.ts";

/** Prints the prompt, then the names of all files around it: what a value or an output has made would be there. */
const SHOW = command("cat; echo; echo --; ls -A");
const FILES = "\n--\n.git\nREADME.md\n";

const start = (
  name: SandboxName,
  template: string,
  { cwd = temporaryRepository(), ...options }: Record<string, unknown> & { cwd?: string } = {},
): Promise<RunResult> => {
  const promptFile = join(temporaryDirectory(), "prompt.md");
  writeFileSync(promptFile, template);
  const branchStrategy = STRATEGIES.branch;
  return run({
    agent: SHOW,
    sandbox: SANDBOXES[name](),
    promptFile,
    branchStrategy,
    cwd,
    ...options,
  } as RunOptions);
};

const BOTH = ["bubblewrap", "isolated"] as const;

const VALUES: [string, string][] = [
  ["a shell expression", "!`touch canary`"],
  ["a shell expression over several lines", "\n!`touch canary`\n"],
  ["another argument", "{{OTHER}} {{SOURCE_BRANCH}}"],
  ["a missing argument", "{{MISSING}}"],
  ["command substitutions", "$(touch canary) `touch canary` $($(touch canary))"],
  ["quotes that open and close", `'; touch canary; ' "; touch canary; " '"'"'$(touch canary)`],
  ["commands on lines of their own", "a\ntouch canary\nb"],
  ["backslashes", "\\ \\\\ \\' \\n \\$(touch canary) \\{{OTHER}} \\!`x`"],
  ["patterns", "* ? [a-z]* ~ .* {a,b}"],
  ["leading dashes", "-n --help -e"],
  ["what changes a replacement", "$& $1 $` $' $$"],
  ["other scripts and directions", "ünï 🏜 \u202e\u2028"],
  ["control characters", "\u0001\u001b[31m\u0007"],
  ["the marks of the wrapper", "$_sanddune_command $_sanddune_marker\u001e0:0\u001e"],
  ["100 KB", "some 'quoted' $(touch canary) text; ".repeat(2800)],
];

describe.each(BOTH)("on %s, a prompt argument is text and nothing else:", (name) => {
  it.each(VALUES)("%s", async (_, value) => {
    const { stdout, warnings } = await start(
      name,
      `{{V}}|!\`printf '%s' {{V}}\`|!\`printf '%s' "{{V}}"\`|!\`printf '%s' '{{V}}'\`|!\`printf '%s' "$(printf '%s.' {{V}})"\``,
      { promptArgs: { V: value, OTHER: "never" } },
    );
    const printed = value.replace(/\n+$/, "");
    expect(stdout).toBe(`${[value, printed, printed, printed, `${value}.`].join("|")}${FILES}`);
    expect(warnings).toEqual([expect.stringMatching(/OTHER/)]);
  });

  it("a NUL byte stays in the text, and is refused for an expression by name before anything is created", async () => {
    const inText = await start(name, "[{{V}}]", { promptArgs: { V: "a\0b" } });
    expect(inText.stdout).toBe(`[a\0b]${FILES}`);
    const cwd = temporaryRepository();
    const error = await failureOf(start(name, "!`echo {{V}}`", { cwd, promptArgs: { V: "a\0b" } }));
    expect(error.message).toMatch(/\{\{V\}\}|\bV\b/);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it("a value that is too long for an expression is refused by name before anything is created", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      start(name, "!`echo {{V}}`", { cwd, promptArgs: { V: "x".repeat(1_000_000) } }),
    );
    expect(error.message).toMatch(/\{\{V\}\}|\bV\b/);
    expect(error.message.length).toBeLessThan(5000);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});

describe.each(BOTH)("on %s, what an expression prints is text and nothing else:", (name) => {
  it.each<[string, string]>([
    ["an argument", "{{V}} {{MISSING}} {{SOURCE_BRANCH}}"],
    ["an expression", "!`touch canary`"],
    ["an escaped marker", "\\{{V}} \\!`touch canary`"],
    ["code", "$(touch canary) '; touch canary"],
    ["what changes a replacement", "$& $1 $` $$"],
    ["other characters", "ünï 🏜 \u2028 \u001b[31m"],
    ["empty lines before text", `${"\n".repeat(300)}end`],
  ])("%s", async (_, printed) => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "README.md"), printed);
    git(cwd, "commit", "--quiet", "--all", "-m", "Print this");
    const { stdout } = await start(name, "{{V}} !`cat README.md`", { cwd, promptArgs: { V: "value" } });
    expect(stdout).toBe(`value ${printed}${FILES}`);
  });

  it("two outputs make no marker together", async () => {
    const { stdout } = await start(
      name,
      "!`printf '{{'`!`printf 'SOURCE_BRANCH}}!'`!`printf '\\140touch canary\\140'`",
    );
    expect(stdout).toBe(`{{SOURCE_BRANCH}}!\`touch canary\`${FILES}`);
  });
});

it("an output of many empty lines does not hold up the host", async () => {
  const lines = 200_000;
  const { stdout } = await start("bubblewrap", `!\`head -c ${lines} /dev/zero | tr '\\0' '\\n'; echo end\``, {
    agent: command("wc -l"),
  });
  expect(Number(stdout)).toBe(lines);
});

it("output with Windows line ends is not cut without a word", async () => {
  const lines = 400_000;
  const ended = await start("bubblewrap", `!\`yes "$(printf 'x\\r')" | head -n ${lines}\``, {
    agent: command("wc -l"),
  }).then(
    ({ stdout }) => ({ lines: Number(stdout) + 1 }),
    (error: Error) => ({ error: error.name }),
  );
  expect([{ lines }, { error: "PromptExpansionError" }]).toContainEqual(ended);
});

it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
  "the key %s is missing unless it is given, and is then one like any other",
  async (key) => {
    const template = `{{${key}}} !\`echo {{${key}}}\``;
    expect(await failureOf(start("bubblewrap", template))).toMatchObject({
      name: "MissingPromptArgumentError",
      keys: [key],
    });
    const promptArgs = JSON.parse(`{"${key}":"given"}`);
    expect((await start("bubblewrap", template, { promptArgs })).stdout).toBe(`given given${FILES}`);
  },
);

/** Processes of this machine, in whatever sandbox, that have a word on their command line. */
const running = (word: string): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
      } catch {
        return false;
      }
    });

const uniqueSleep = () => `sleep 1000.${process.hrtime.bigint()}`;

describe.each(BOTH)("on %s, an expression", (name) => {
  it.each([
    ["hangs and ignores signals", (sleep: string) => `trap '' TERM INT HUP; ${sleep}; ${sleep}`],
    ["leaves the hanging to a child of its own", (sleep: string) => `setsid ${sleep} & wait`],
    ["has another one hang beside it", (sleep: string) => `tail -f /dev/null & ${sleep}`],
  ])("that %s is killed, and ends the run", async (_, expressionWith) => {
    const cwd = temporaryRepository();
    const sleep = uniqueSleep();
    const error = await failureOf(
      start(name, `!\`${expressionWith(sleep)}\``, { cwd, timeouts: { promptExpansionMs: 1500 } }),
    );
    expect(error).toMatchObject({ name: "PromptExpansionError", expression: expressionWith(sleep) });
    expect(running(sleep.slice("sleep ".length))).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it.each([
    ["100 MB in lines", "yes | head -c 100000000"],
    ["100 MB in one line", "head -c 100000000 /dev/zero | tr '\\0' x"],
    ["100 MB of NUL bytes", "head -c 100000000 /dev/zero"],
    ["forever, in lines", "yes"],
    ["forever, in one line", "tr '\\0' x < /dev/zero"],
    ["forever, to both streams", "yes >&2 & yes"],
  ])("that prints %s is stopped, and the error names it", async (_, expression) => {
    const cwd = temporaryRepository();
    const error = await failureOf(start(name, `!\`${expression}\``, { cwd }));
    expect(error).toMatchObject({ name: "PromptExpansionError", expression });
    expect(error.message.length).toBeLessThan(10_000);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("that runs when the run is aborted is killed, and the agent does not start", async () => {
    const cwd = temporaryRepository();
    const sleep = uniqueSleep();
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const started = join(temporaryDirectory(), "started");
    const ended = start(name, `!\`${sleep}\``, {
      cwd,
      signal: controller.signal,
      agent: {
        ...SHOW,
        buildCommand: () => {
          writeFileSync(started, "");
          return { command: "true" };
        },
      },
    }).catch((error: unknown) => error);
    await waitFor(() => running(sleep.slice("sleep ".length)).length > 0);
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(running(sleep.slice("sleep ".length))).toEqual([]);
    expect(existsSync(started)).toBe(false);
  });
});

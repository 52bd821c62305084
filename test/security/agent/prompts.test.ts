import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { command, type RunOptions, type RunResult, run } from "../../../src/index.ts";
import type { PromptArgs } from "../../../src/options/promptArgs.ts";
import { expandPrompt } from "../../../src/prompt/expandPrompt.ts";
import { parseTemplate } from "../../../src/prompt/promptTemplate.ts";
import { substituteArguments } from "../../../src/prompt/resolvePrompt.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount, openIsolated } from "../../sandboxes/openSandbox.ts";
import { failureOf, SANDBOXES, type SandboxName, STRATEGIES } from "../support.ts";

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

const IN_EVERY_CONTEXT = `{{V}}|!\`printf '%s' {{V}}\`|!\`printf '%s' "{{V}}"\`|!\`printf '%s' '{{V}}'\`|!\`printf '%s' "$(printf '%s.' {{V}})"\``;

const inEveryContext = (value: string): string => {
  const printed = value.replace(/\n+$/, "");
  return [value, printed, printed, printed, `${value}.`].join("|");
};

const OUTPUTS: [string, string][] = [
  ["an argument", "{{V}} {{MISSING}} {{SOURCE_BRANCH}}"],
  ["an expression", "!`touch canary`"],
  ["an escaped marker", "\\{{V}} \\!`touch canary`"],
  ["code", "$(touch canary) '; touch canary"],
  ["what changes a replacement", "$& $1 $` $$"],
  ["other characters", "ünï 🏜 \u2028 \u001b[31m"],
  ["empty lines before text", `${"\n".repeat(300)}end`],
];

const uniqueSleep = () => `sleep 1000.${process.hrtime.bigint()}`;
const isRunning = (sleep: string): boolean => processesWith(sleep.slice("sleep ".length)).length > 0;

interface Place {
  readonly handle: SandboxHandle;
  /** The sandbox's worktree, on the host. */
  readonly worktree: string;
}

const describeExpansion = (open: () => Promise<Place>): void => {
  let place: Place;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.handle.close());

  /** What an agent in this sandbox would get to read. */
  const expand = (template: string, args: PromptArgs = {}, timeoutMs = 30_000): Promise<string> => {
    const unresolved = { promptFile: "prompt.md", template: parseTemplate(template) };
    const prompt = substituteArguments(unresolved, args, { SOURCE_BRANCH: "agent/work" });
    const { handle } = place;
    const redactCaptured = (text: string) => text;
    return runAtBoundary(
      expandPrompt(prompt, { sandbox: handle, cwd: handle.worktreePath, timeoutMs, redactCaptured }),
    );
  };

  describe("a prompt argument is text and nothing else:", () => {
    it.each(VALUES)("%s", async (_, value) => {
      expect(await expand(IN_EVERY_CONTEXT, { V: value, OTHER: "never" })).toBe(inEveryContext(value));
      expect(readdirSync(place.worktree)).not.toContain("canary");
    });

    it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
      "one that is called %s is one like any other",
      async (key) => {
        const given = JSON.parse(`{"${key}":"given"}`);
        expect(await expand(`{{${key}}} !\`echo {{${key}}}\``, given)).toBe("given given");
      },
    );
  });

  describe("what an expression prints is text and nothing else:", () => {
    it.each(OUTPUTS)("%s", async (_, printed) => {
      writeFileSync(join(place.worktree, "printed"), printed);
      expect(await expand("{{V}} !`cat printed`", { V: "value" })).toBe(`value ${printed}`);
      expect(readdirSync(place.worktree)).toEqual(["printed"]);
    });

    it("two outputs make no marker together", async () => {
      const template = "!`printf '{{'`!`printf 'SOURCE_BRANCH}}!'`!`printf '\\140touch canary\\140'`";
      expect(await expand(template)).toBe("{{SOURCE_BRANCH}}!`touch canary`");
    });

    it("many empty lines do not hold up the host", async () => {
      const lines = 200_000;
      const text = await expand(`!\`head -c ${lines} /dev/zero | tr '\\0' '\\n'; echo end\``);
      expect(text).toBe(`${"\n".repeat(lines)}end`);
    });

    it("Windows line ends do not have it cut without a word", async () => {
      const lines = 400_000;
      const ended = await expand(`!\`yes "$(printf 'x\\r')" | head -n ${lines}\``).then(
        (text) => ({ lines: text.split("\n").length }),
        (error: Error) => ({ error: error.name }),
      );
      expect([{ lines }, { error: "PromptExpansionError" }]).toContainEqual(ended);
    });
  });

  it("an expression that takes too long is killed, with all that it has started", async () => {
    const sleeps = [uniqueSleep(), uniqueSleep(), uniqueSleep()] as const;
    const expressions = [
      `trap '' TERM INT HUP; ${sleeps[0]}; ${sleeps[0]}`,
      `setsid ${sleeps[1]} & wait`,
      `tail -f /dev/null & ${sleeps[2]}`,
    ];
    const expanding = expressions.map((expression) => failureOf(expand(`!\`${expression}\``, {}, 1000)));
    for (const [index, error] of (await Promise.all(expanding)).entries()) {
      expect(error).toMatchObject({ name: "PromptExpansionError", expression: expressions[index] });
    }
    expect(sleeps.filter(isRunning)).toEqual([]);
  });

  it.each([
    ["too much, in lines", "yes | head -c 3000000"],
    ["100 MB of NUL bytes", "head -c 100000000 /dev/zero"],
    ["forever, in lines", "yes"],
    ["forever, in one line", "tr '\\0' x < /dev/zero"],
    ["forever, to both streams", "yes >&2 & yes"],
  ])("an expression that prints %s is stopped, and the error names it", async (_, expression) => {
    const error = await failureOf(expand(`!\`${expression}\``));
    expect(error).toMatchObject({ name: "PromptExpansionError", expression });
    expect(error.message.length).toBeLessThan(10_000);
  });
};

describe("in an isolated sandbox", () => {
  describeExpansion(async () => {
    const handle = await openIsolated(testIsolated());
    return { handle, worktree: handle.worktreePath };
  });
});

describeWith(["bubblewrap"], "in bubblewrap", () => {
  describeExpansion(async () => {
    const { sandbox, worktree } = await openBindMount(bubblewrap());
    return { handle: sandbox, worktree };
  });
});

const describeRuns = (name: SandboxName): void => {
  it("gives the agent a prompt in which values and outputs are text", async () => {
    const values = VALUES.filter(([what]) => what !== "100 KB");
    const keys = values.map((_, index) => `V${index}`);
    const template = [...keys.map((key) => `{{${key}}} !\`printf '%s.' {{${key}}}\``), "!`cat README.md`"];
    const promptArgs = Object.fromEntries(values.map(([, value], index) => [`V${index}`, value]));
    const { stdout, warnings } = await start(name, template.join("|"), {
      promptArgs: { ...promptArgs, OTHER: "never" },
    });
    const expected = [...values.map(([, value]) => `${value} ${value}.`), "# Fixture"];
    expect(stdout).toBe(`${expected.join("|")}${FILES}`);
    expect(warnings).toEqual([expect.stringMatching(/OTHER/)]);
  });

  it("that is aborted while an expression runs kills it, and does not start the agent", async () => {
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
    await waitFor(() => isRunning(sleep));
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(isRunning(sleep)).toBe(false);
    expect(existsSync(started)).toBe(false);
  });

  it("that an expression has ended leaves nothing", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(start(name, "!`yes`", { cwd }));
    expect(error).toMatchObject({ name: "PromptExpansionError", expression: "yes" });
    expect(leftovers(cwd)).toEqual([]);
  });
};

describe("a run in an isolated sandbox", () => describeRuns("isolated"));
describeWith(["bubblewrap"], "a run in bubblewrap", () => describeRuns("bubblewrap"));

it("a NUL byte stays in the text, and is refused for an expression by name before anything is created", async () => {
  const inText = await start("isolated", "[{{V}}]", { promptArgs: { V: "a\0b" } });
  expect(inText.stdout).toBe(`[a\0b]${FILES}`);
  const cwd = temporaryRepository();
  const error = await failureOf(start("isolated", "!`echo {{V}}`", { cwd, promptArgs: { V: "a\0b" } }));
  expect(error.message).toMatch(/\{\{V\}\}|\bV\b/);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
});

it("a value that is too long for an expression is refused by name before anything is created", async () => {
  const cwd = temporaryRepository();
  const promptArgs = { V: "x".repeat(1_000_000) };
  const error = await failureOf(start("isolated", "!`echo {{V}}`", { cwd, promptArgs }));
  expect(error.message).toMatch(/\{\{V\}\}|\bV\b/);
  expect(error.message.length).toBeLessThan(5000);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
});

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { type CaseDefinition, HANG_MS, inputAfter, moment } from "./conformanceCase.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** Standard input, output and error. */
export const streamCases: readonly CaseDefinition[] = [
  {
    name: "lines arrive before the command ends",
    makesNoFiles: true,
    check: async (sandbox) => {
      const first = moment();
      const lines: string[] = [];
      const result = await sandbox.exec('echo first; read -r answer; echo "got $answer"', {
        stdin: inputAfter(first.reached, "answer\n"),
        timeoutMs: HANG_MS,
        onLine: (line) => {
          lines.push(line);
          first.reach();
        },
      });
      assert.equal(result.exitCode, 0);
      assert.deepEqual(lines, ["first", "got answer"]);
    },
  },
  {
    name: "lines of stderr arrive before the command ends",
    makesNoFiles: true,
    check: async (sandbox) => {
      const first = moment();
      const result = await sandbox.exec("echo first >&2; read -r answer", {
        stdin: inputAfter(first.reached, "answer\n"),
        timeoutMs: HANG_MS,
        onStderrLine: () => first.reach(),
      });
      assert.equal(result.exitCode, 0);
    },
  },
  {
    name: "a single byte without a line end counts as activity",
    makesNoFiles: true,
    check: async (sandbox) => {
      for (const stream of ["", " >&2"]) {
        const activity = moment();
        const result = await sandbox.exec(`printf x${stream}; read -r answer`, {
          stdin: inputAfter(activity.reached, "answer\n"),
          timeoutMs: HANG_MS,
          onActivity: activity.reach,
        });
        assert.equal(result.exitCode, 0);
      }
    },
  },
  {
    name: "stdout and stderr are kept apart",
    makesNoFiles: true,
    check: async (sandbox) => {
      const out: string[] = [];
      const err: string[] = [];
      const result = await sandbox.exec("echo a; echo b >&2; echo c; printf d >&2", {
        onLine: (line) => out.push(line),
        onStderrLine: (line) => err.push(line),
      });
      assert.deepEqual(result, { stdout: "a\nc\n", stderr: "b\nd", exitCode: 0 });
      assert.deepEqual(
        [out, err],
        [
          ["a", "c"],
          ["b", "d"],
        ],
      );
    },
  },
  {
    name: "a last line without an end is delivered",
    makesNoFiles: true,
    check: async (sandbox) => {
      const lines: string[] = [];
      const result = await sandbox.exec("printf 'one\\n\\ntwo'", { onLine: (line) => lines.push(line) });
      assert.deepEqual(lines, ["one", "", "two"]);
      assert.equal(result.stdout, "one\n\ntwo");
    },
  },
  {
    name: "standard input is at its end when none is given",
    makesNoFiles: true,
    check: async (sandbox) => {
      assert.deepEqual(await sandbox.exec("cat; echo end", { timeoutMs: HANG_MS }), {
        stdout: "end\n",
        stderr: "",
        exitCode: 0,
      });
    },
  },
  {
    name: "a megabyte of standard input arrives unchanged",
    makesNoFiles: true,
    check: async (sandbox) => {
      const input = randomBytes(512 * 1024).toString("hex");
      for (const stdin of [input, Buffer.from(input), [Buffer.from(input)]]) {
        const source = Array.isArray(stdin)
          ? (async function* () {
              yield* stdin;
            })()
          : stdin;
        const result = await sandbox.exec("cat", { stdin: source, captureBytes: 2 * 1024 * 1024 });
        assert.equal(sha256(result.stdout), sha256(input));
      }
    },
  },
  {
    name: "a command need not read its input, nor wait for its end",
    makesNoFiles: true,
    check: async (sandbox) => {
      const megabytes = Buffer.alloc(5 * 1024 * 1024, "x");
      assert.equal((await sandbox.exec("exit 3", { stdin: megabytes, timeoutMs: HANG_MS })).exitCode, 3);
      const never = new Promise<void>(() => {});
      assert.equal(
        (await sandbox.exec("exit 4", { stdin: inputAfter(never, ""), timeoutMs: HANG_MS })).exitCode,
        4,
      );
    },
  },
  {
    name: "input that fails is no end of input",
    check: async (sandbox) => {
      const failure = new Error("the source broke");
      const broken = (async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from("first\n");
        throw failure;
      })();
      await assert.rejects(
        sandbox.exec("cat >/dev/null; touch took-it-for-the-end", { stdin: broken, timeoutMs: HANG_MS }),
        (error) => error === failure,
      );
    },
  },
  {
    name: "a line of 10 MB arrives whole, and what is kept of it stays bounded",
    makesNoFiles: true,
    check: async (sandbox) => {
      let characters = 0;
      const result = await sandbox.exec("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end", {
        timeoutMs: HANG_MS,
        onLine: (line) => {
          characters += line.length;
        },
      });
      assert.equal(characters, 10_000_000 + "end".length);
      assert.ok(result.stdout.length <= 1024 * 1024 && result.stdout.endsWith("x\nend\n"));
    },
  },
  {
    name: "invalid UTF-8, U+2028 and characters that arrive in halves do not break lines",
    makesNoFiles: true,
    check: async (sandbox) => {
      const half = moment();
      const lines: string[] = [];
      await sandbox.exec(
        "printf 'a\\377b\\n'; printf 'c\\342\\200\\250d\\n'; printf '\\342' ; read -r answer; printf '\\202\\254\\n'",
        {
          stdin: inputAfter(half.reached, "answer\n"),
          timeoutMs: HANG_MS,
          onLine: (line) => {
            lines.push(line);
            if (lines.length === 2) half.reach();
          },
        },
      );
      assert.deepEqual(lines, ["a\ufffdb", "c\u2028d", "€"]);
    },
  },
  {
    name: "what a callback throws ends the command and is what exec rejects with",
    makesNoFiles: true,
    check: async (sandbox) => {
      const failure = new Error("thrown by a callback");
      const attempt = sandbox.exec("echo line; sleep 1000", {
        timeoutMs: HANG_MS,
        onLine: () => {
          throw failure;
        },
      });
      await assert.rejects(attempt, (error) => error === failure);
    },
  },
];

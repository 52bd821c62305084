import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  argvFile,
  CODE_FILE,
  type InboxFile,
  inputFile,
  KEPT_PIECES,
  OVER_FILE,
  relayArguments,
  TAKEN_STEP,
  takenFile,
} from "../../../src/sandboxes/relay/script.ts";
import { argvOf, processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const onPath = (program: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(":")
    .map((directory) => join(directory, program))
    .find((path) => existsSync(path));

/** What a sandbox may have as `sh`. Of busybox, the relay's other programs are taken, too. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  dash: ["sh"],
  bash: ["sh"],
  busybox: ["sh", "base64", "cat", "dd", "mkfifo", "mktemp", "rm", "setsid", "sleep", "stat", "wc"],
};

/** The first words of all processes that have the mark in their environment. */
const marked = (mark: string): string[] =>
  processesWith(mark, "environ")
    .map((pid) => argvOf(pid).slice(0, 2).join(" "))
    .filter((words) => words !== "");

interface Relay {
  readonly child: ChildProcess;
  readonly inbox: string;
  readonly mark: string;
  put(...files: readonly InboxFile[]): void;
}

const startRelay = async (shell: string): Promise<Relay> => {
  const directory = temporaryDirectory();
  for (const name of SHELLS[shell] ?? []) symlinkSync(onPath(shell) ?? "", join(directory, name));
  const [, ...args] = relayArguments(directory);
  const mark = `SANDDUNE_TEST_MARK=${directory}`;
  const child = spawn(join(directory, "sh"), args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${directory}:${process.env["PATH"]}`, TMPDIR: directory, SANDDUNE_TEST_MARK: directory },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout?.on("data", (data: Buffer) => {
    printed += data;
  });
  child.stderr?.resume();
  await waitFor(() => /^@ \S+\n/.test(printed));
  const inbox = /^@ (\S+)\n/.exec(printed)?.[1] ?? "";
  return {
    ...{ child, inbox, mark },
    put: (...files) => {
      for (const { name, data } of files) writeFileSync(join(inbox, name), data);
    },
  };
};

/** The output, by its files: on the stream, what several processes say may be mixed. One that is being written does not count. */
const recordsIn = (inbox: string): Buffer[] => {
  const lines = readdirSync(inbox)
    .flatMap((name) => /^out\.(\d+)$/.exec(name)?.[1] ?? [])
    .sort((one, other) => Number(one) - Number(other))
    .map((index) => /^\d+ (\d+) (\S{2,})\n$/.exec(readFileSync(join(inbox, `out.${index}`), "utf8")));
  return lines.flatMap((line) =>
    line?.[2]?.length === Number(line?.[1]) ? [Buffer.from(line?.[2] ?? "", "base64")] : [],
  );
};

const exitCodeIn = (inbox: string): string =>
  existsSync(join(inbox, CODE_FILE)) ? readFileSync(join(inbox, CODE_FILE), "utf8") : "";

/** Leaves a process behind that holds all three streams, and says its number. */
const DAEMON = "exec 3<&0; sleep 1000 <&3 & echo $!";

describe.each(Object.keys(SHELLS))("the relay, with %s", (shell) => {
  beforeEach((context) => {
    if (onPath(shell) === undefined) context.skip(`${shell} is not installed`);
  });

  test("ends on request, although its streams are held, and leaves nothing", async () => {
    const { child, inbox, mark, put } = await startRelay(shell);
    // More than a pipe holds: who passes it on has to wait, too.
    put(argvFile(["sh", "-c", DAEMON]), inputFile(0, Buffer.alloc(1024 * 1024), true));
    await waitFor(() => exitCodeIn(inbox) === "0\n" && recordsIn(inbox).length > 0);
    const daemon = Number(recordsIn(inbox)[0]?.toString());
    expect(daemon).toBeGreaterThan(1);
    onTestFinished(() => void process.kill(daemon));
    expect(child.exitCode).toBe(null);

    put(OVER_FILE);
    await once(child, "exit");
    expect(existsSync(inbox)).toBe(false);
    await waitFor(() => marked(mark).length === 1);
    expect(marked(mark)).toEqual(["sleep 1000"]);
  });

  test("has all of the input and the output, and ends", async () => {
    const { child, inbox, mark, put } = await startRelay(shell);
    const halves = [Buffer.alloc(300_000, "a"), Buffer.alloc(300_000, "b")] as const;
    put(argvFile(["sh", "-c", "cat; exit 7"]), inputFile(0, halves[0], false), inputFile(1, halves[1], true));
    const size = () => Buffer.concat(recordsIn(inbox)).length;
    await waitFor(() => size() === 600_000 && exitCodeIn(inbox) === "7\n");
    expect(Buffer.concat(recordsIn(inbox)).equals(Buffer.concat(halves))).toBe(true);
    put(OVER_FILE);
    await once(child, "exit");
    expect(existsSync(inbox)).toBe(false);
    await waitFor(() => marked(mark).length === 0);
  });
});

test("the relay keeps what was not taken: until then the command waits", { timeout: 120_000 }, async () => {
  const { child, inbox, put } = await startRelay("bash");
  // Each of which is a full pipe.
  const pieces = KEPT_PIECES + TAKEN_STEP / 2;
  put(argvFile(["head", "-c", String(pieces * 64 * 1024), "/dev/zero"]), inputFile(0, Buffer.of(), true));
  const last = join(inbox, `out.${KEPT_PIECES - 1}`);
  // Each piece takes several processes: on a busy machine, all of them take most of a minute.
  await waitFor(() => existsSync(last) || exitCodeIn(inbox) !== "", 50_000);
  expect(readdirSync(inbox)).toContain("out.0");
  expect(exitCodeIn(inbox)).toBe("");
  put(takenFile("out", TAKEN_STEP));
  await waitFor(() => exitCodeIn(inbox) === "0\n");
  expect(readdirSync(inbox)).not.toContain("out.0");
  put(OVER_FILE);
  await once(child, "exit");
});

/**
 * Part of the extension for pi: a server of tools that is a program, spoken to by its standard input and output.
 *
 * What it writes to stderr is kept for the case that it ends: on pi's own it would be taken for words of pi's.
 */
export const PI_MCP_PROGRAM = String.raw`
const { spawn } = process.getBuiltinModule("node:child_process");

/** How long a server may take to end before it is asked in another way. */
const GRACE_MS = 1000;
const MAX_LAST_WORDS = 1000;

/** Whether the promise is settled in time. */
const within = (promise, milliseconds) => {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const settled = promise.then(() => true, () => true);
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
};

/** Makes whole lines of text that comes in pieces. Line ends within a JSON text are only ever written as such. */
const lineSplitter = () => {
  let rest = "";
  return (text) => {
    const lines = text.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop();
    return lines;
  };
};

/** The messages that a text holds; none if it is no message. */
const messagesIn = (text) => {
  try {
    return [JSON.parse(text)].flat().filter((each) => typeof each === "object" && each !== null);
  } catch {
    return [];
  }
};

const openProgram = ({ command, args = [], env = {} }, { onMessage, onEnd }) => {
  const child = spawn(command, args, { env: { ...process.env, ...env } });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let lastWords = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    lastWords = (lastWords + text).slice(-MAX_LAST_WORDS);
  });
  const linesOf = lineSplitter();
  child.stdout.setEncoding("utf8").on("data", (text) => linesOf(text).flatMap(messagesIn).forEach(onMessage));
  child.stdin.on("error", () => {});
  const closed = new Promise((resolve) => child.once("close", resolve));
  const gone = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve("it has ended with " + (signal ?? "exit code " + code)));
  });
  gone.then(async (reason) => {
    process.off("exit", kill);
    await within(closed, GRACE_MS);
    onEnd(new Error([reason, lastWords.trim()].filter(Boolean).join(": ")));
  });
  return {
    send: async (message) => {
      child.stdin.write(JSON.stringify(message) + "\n");
    },
    close: async () => {
      child.stdin.end();
      for (const signal of ["SIGTERM", "SIGKILL"]) {
        if (await within(gone, GRACE_MS)) break;
        child.kill(signal);
      }
      await within(gone, GRACE_MS);
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
};
`;

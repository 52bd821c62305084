import { spawn } from "node:child_process";
import { LineSplitter } from "../../../tools/lineSplitter.ts";
import type { StdioMcpServer } from "../../shared/mcpServers.ts";
import { GRACE_MS, messagesIn, settlesWithin, type Transport, type TransportEvents } from "./messages.ts";

const MAX_STDERR_CHARACTERS = 1000;

/**
 * Starts an MCP server and talks to it over its standard input and output.
 *
 * Its stderr is kept to explain why it ended: on pi's own stderr it would look like output of pi.
 */
export const openStdio = (
  { command, args = [], env = {} }: StdioMcpServer,
  { onMessage, onEnd }: TransportEvents,
): Transport => {
  const child = spawn(command, args, { env: { ...process.env, ...env } });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  const lines = new LineSplitter((line) => messagesIn(line).forEach(onMessage), Number.POSITIVE_INFINITY);
  child.stdout.on("data", (chunk) => lines.push(chunk));
  child.stdin.on("error", () => {});
  const closed = new Promise((resolve) => child.once("close", resolve));
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });
  void gone.then(async (reason) => {
    process.off("exit", kill);
    await settlesWithin(closed, GRACE_MS);
    onEnd(new Error([reason, stderr.trim()].filter(Boolean).join(": ")));
  });
  return {
    send: async (message) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    close: async () => {
      child.stdin.end();
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (await settlesWithin(gone, GRACE_MS)) break;
        child.kill(signal);
      }
      await settlesWithin(gone, GRACE_MS);
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
};

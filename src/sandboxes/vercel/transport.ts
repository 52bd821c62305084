import type { Sandbox } from "@vercel/sandbox";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { RelayTransport } from "../relay/relay.ts";
import { uploadTimeoutMs } from "../relay/uploadTimeout.ts";
import { boundedText } from "../services/boundedText.ts";
import { findVercelSandbox, type VercelClient } from "./client.ts";

const PRIVATE_MODE = 0o600;

/** Runs commands in a Vercel sandbox. */
export const vercelTransport = (
  client: VercelClient,
  sandbox: Sandbox,
  timeoutMs: number,
): RelayTransport => {
  // Of the sandbox itself, every method would start it anew when it has ended, and run the command there.
  const session = sandbox.currentSession();
  return {
    ownersDirectory: session.cwd,
    start: async ([cmd = "sh", ...args], { sudo }) => {
      const command = await inTime(
        (signal) => session.runCommand({ cmd, args, sudo, detached: true, signal }),
        { timeoutMs },
      );
      return {
        // Every connection begins with what was printed first: nothing is ever missed.
        read: async ({ openReader }, signal) => {
          const reader = openReader();
          for await (const { stream, data } of command.logs({ signal })) reader[stream](data);
        },
      };
    },
    writeFiles: (files) =>
      inTime(
        (signal) =>
          session.writeFiles(
            files.map(({ path, data }) => ({ path, content: data, mode: PRIVATE_MODE })),
            { signal },
          ),
        { timeoutMs: uploadTimeoutMs(files, timeoutMs) },
      ),
    readFile: (path, _, maxBytes) => {
      const read = async (signal: AbortSignal) => {
        const content = await session.readFile({ path }, { signal });
        return content === null ? undefined : boundedText(content, maxBytes);
      };
      return inTime(read, { timeoutMs });
    },
    isGone: async () => {
      const found = await findVercelSandbox(client, sandbox.name, { timeoutMs }).catch(() => sandbox);
      if (found === undefined) return true;
      const { sessionId, status } = found.currentSession();
      return sessionId !== session.sessionId || (status !== "running" && status !== "pending");
    },
  };
};

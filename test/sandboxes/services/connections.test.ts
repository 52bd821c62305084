import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import type { E2bServer } from "../../helpers/cloud/e2bServer.ts";
import { useE2bServer } from "../../helpers/cloud/useServers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { openIsolated } from "../openSandbox.ts";

const RECORD = /^\d+ \d+ ([A-Za-z0-9+/=]{2,})$/;

/** Hears what the commands of the only sandbox print from now on, as the relays say it to the service. */
const overhear = ({ sandbox }: E2bServer): (() => string) => {
  let said = "";
  for (const process of sandbox.processes.values()) {
    const leave = process.listen((output) => {
      if (output?.stream === "stdout") said += output.data;
    });
    onTestFinished(() => void leave());
  }
  const dataOf = (line: string) => Buffer.from(RECORD.exec(line)?.[1] ?? "", "base64").toString();
  // The last whole line is enough: there are millions of characters before it.
  return () => dataOf(said.slice(0, said.lastIndexOf("\n")).split("\n").at(-1) ?? "");
};

describe("an e2b sandbox", () => {
  const server = useE2bServer();

  test("has what falls between two connections, although nothing is said after it", async () => {
    const sandbox = await openIsolated(e2b());
    onTestFinished(() => sandbox.close());
    const { loopback } = server.current;
    // The first connection is full at some time. While there is a second one, a line is printed that nobody hears.
    loopback.faults.push({
      on: /^POST \/process.Process\/Connect$/,
      times: 1,
      meanwhile: async () => {
        loopback.muteStreams();
        const heard = overhear(server.current);
        writeFileSync(join(sandbox.worktreePath, "go"), "");
        await waitFor(() => heard().endsWith("last\n"), 60_000);
      },
    });
    const over = new AbortController();
    let count = 0;
    let isInOrder = true;
    let last = "";
    const running = sandbox.exec(
      "seq 1 1000000; until [ -e go ]; do sleep 0.05; done; echo last; sleep 1000",
      {
        onLine: (line) => {
          count++;
          isInOrder &&= line === String(count) || line === "last";
          last = line;
        },
        captureBytes: 0,
        signal: over.signal,
      },
    );
    running.catch(() => {});
    await waitFor(() => last === "last", 60_000);
    over.abort();
    await expect(running).rejects.toBe(over.signal.reason);
    expect({ count, isInOrder }).toEqual({ count: 1_000_001, isInOrder: true });
  }, 180_000);
});

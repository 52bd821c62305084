import { describe, expect, it } from "vitest";
import { hanging, hangingPids } from "../../cli/environment/environmentFolders.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { connectMcp, textOf } from "./mcpClient.ts";
import { serveEnvironment } from "./mcpServing.ts";

useTool();

const hasBegun = (worktree: string) => () => hangingPids(worktree).length === 2;
const isOver = (worktree: string) => () => !hangingPids(worktree).some(processIsAlive);

describe("A test that never ends", () => {
  it("has failed when its time is over, and nothing of it is left", async () => {
    const { url, worktree } = await serveEnvironment(hanging("timeoutMs: 500,"));
    const { call } = await connectMcp(["--url", url]);
    const result = await call("run_tests");
    expect(result.structuredContent).toMatchObject({ passed: 1, failed: 1, tests: [{ path: "hangs" }, {}] });
    expect(textOf(result)).toMatch(/- hangs: .*(time|500)/);
    await waitFor(isOver(worktree));
  });

  it("ends with all its processes when the call is cancelled, and the next call is answered", async () => {
    const { url, worktree } = await serveEnvironment(hanging());
    const { call } = await connectMcp(["--url", url]);
    const cancel = new AbortController();
    const waiting = call("run_tests", { test_path: "hangs" }, { signal: cancel.signal });
    const refused = expect(waiting).rejects.toThrow();
    await waitFor(hasBegun(worktree));
    cancel.abort("no longer wanted");
    await refused;
    await waitFor(isOver(worktree));
    expect(textOf(await call("run_tests", { test_path: "quick" }))).toBe("1 of 1 test passed.");
  });

  it.each<[string, (end: { close: () => Promise<void>; pid: number }) => unknown]>([
    ["closes the connection", ({ close }) => close()],
    ["is killed, and the process with it", ({ pid }) => process.kill(pid, "SIGKILL")],
    ["ends the process", ({ pid }) => process.kill(pid, "SIGTERM")],
  ])("ends with all its processes when the client %s", async (_, leave) => {
    const { url, worktree } = await serveEnvironment(hanging());
    const { client, call, pid } = await connectMcp(["--url", url]);
    const waiting = call("run_tests", { test_path: "hangs" });
    const refused = expect(waiting).rejects.toThrow();
    await waitFor(hasBegun(worktree));
    await leave({ close: () => client.close(), pid });
    await refused;
    await waitFor(() => !processIsAlive(pid));
    await waitFor(isOver(worktree));
  });
});

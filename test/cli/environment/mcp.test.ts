import { expect, it } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import { runCliProcess } from "../startCli.ts";

it.each([
  ["not the address", ["--url", "localhost"], "--url:"],
  ["another protocol", ["--url", "ftp://127.0.0.1:8000"], "http://127.0.0.1:8000"],
  ["an env var that is not set", ["--token-env", "SANDDUNE_TEST_NO_SUCH"], "SANDDUNE_TEST_NO_SUCH"],
])("sanddune mcp with %s is bad usage, and says so to people only", async (_, flags, said) => {
  const { exitCode, stdout, stderr } = await runCli(["mcp", ...flags], { cwd: temporaryDirectory() });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain(said);
});

it("sanddune mcp begins without a test server: it may come later", async () => {
  const { exitCode, stdout } = await runCliProcess(["mcp", "--url", "http://127.0.0.1:1"], {
    cwd: temporaryDirectory(),
    stdin: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`,
  });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `${JSON.stringify({ result: {}, jsonrpc: "2.0", id: 1 })}\n`,
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import { bundle } from "../../helpers/bundle.ts";
import { startSilentServer } from "../../helpers/cloud/silentServer.ts";
import { modalServer, openModal } from "../modal/scene.ts";

const ROUTE = pathToFileURL(join(import.meta.dirname, "../../helpers/cloud/vercelRoute.mjs"));
const NODE_MODULES = join(import.meta.dirname, "../../../node_modules");

let program: string;
beforeAll(() => {
  program = bundle(
    join(import.meta.dirname, "givenUpProgram.ts"),
    mkdtempSync(join(tmpdir(), "sanddune-given-up-")),
  );
  symlinkSync(NODE_MODULES, join(dirname(program), "node_modules"));
});
afterAll(() => rmSync(dirname(program), { recursive: true }));

/** Runs `givenUpProgram.ts`, which has to end by itself. */
const outcomesOf = async (service: string, env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, ["--expose-gc", `--import=${ROUTE}`, program, service], {
    env: { ...process.env, ...env },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown;
};

const envOf = (service: string, url: string): Readonly<Record<string, string>> => {
  switch (service) {
    case "e2b":
      return { E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_API_KEY: `e2b_${"0".repeat(40)}` };
    case "vercel":
      return {
        LOOPBACK_VERCEL: url,
        VERCEL_TOKEN: "token-of-vercel",
        VERCEL_TEAM_ID: "team_1",
        VERCEL_PROJECT_ID: "prj_1",
      };
    default:
      return { MODAL_SERVER_URL: url, MODAL_TOKEN_ID: "ak-1", MODAL_TOKEN_SECRET: "as-1" };
  }
};

const UNANSWERED = expect.stringMatching(
  /^SandboxBusyError: .* cannot be reached \(there was no answer within \d+/,
);
const ABORTED = "Error: never mind";
const GIVEN_UP = {
  preflight: UNANSWERED,
  "preflight that is aborted": ABORTED,
  create: UNANSWERED,
  "create that is aborted": ABORTED,
  "clean that is aborted": ABORTED,
};

it.each(["e2b", "vercel", "modal"])(
  "%s, of which requests are accepted and not answered, is given up, and the process ends",
  async (service) => {
    const server = await startSilentServer();
    onTestFinished(() => server.close());
    expect(await outcomesOf(service, envOf(service, server.url))).toEqual(GIVEN_UP);
  },
  60_000,
);

describe("a Modal that can be connected to, and answers no call,", () => {
  it("is given up, and the process ends", async () => {
    const server = await modalServer();
    server.freeze();
    expect(await outcomesOf("modal", server.env)).toEqual(GIVEN_UP);
  }, 60_000);

  it("gives up the start of a command", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server, { requestTimeoutMs: 3000 });
    server.freeze("taskExecStart");
    const attempt = sandbox.exec("true");
    await expect(attempt).rejects.toThrow(SandboxLostError);
    await expect(attempt).rejects.toThrow(/there was no answer within 3000 ms/);
  }, 60_000);
});

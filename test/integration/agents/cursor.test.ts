import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  AgentAuthenticationError,
  AgentFailedError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  cursor,
  type RunOptions,
  run,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { AGENTS_IN_SANDBOX, agentMount, pinnedPackage } from "../../helpers/agents/agents.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { afterTest, describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf } from "../../security/support.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const NODE_22 = `${AGENTS_IN_SANDBOX}/node/node_modules/node/bin`;
const MODULES = `${AGENTS_IN_SANDBOX}/cursor/node_modules`;

/** A server on the loopback for as long as the test takes, and the paths that it was asked for. */
const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
};

const answerJson = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** Stands for Cursor's servers, and always answers with the same status; never, if there is none. */
const backend = (status?: number) =>
  serve((_, response) => {
    if (status !== undefined) answerJson(response, status, { error: `scripted error ${status}` });
  });

/** Stands for Cursor's servers as far as the SDK has to be let in, knows its model and begins its turn; no further. */
const lettingIn = () =>
  serve(({ url = "", headers }, response) => {
    const payload = Buffer.from(JSON.stringify({ sub: "somebody", exp: Date.now() }));
    const token = `e30.${payload.toString("base64url")}.x`;
    if (url.startsWith("/auth/")) answerJson(response, 200, { accessToken: token, refreshToken: token });
    else if (url === "/v1/models") answerJson(response, 200, { items: [{ id: "composer-2" }] });
    else if (headers["content-type"] === "application/proto") {
      response.writeHead(200, { "content-type": "application/proto" }).end();
    } else if (!url.endsWith("/RunSSE")) answerJson(response, 404, { code: "unimplemented" });
  });

interface Place {
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly { hostPath: string; sandboxPath: string }[];
}

const runCursor = (cwd: string, { path = SYSTEM_PATH, env = {}, mounts = [] }: Place, options: object = {}) =>
  run({
    agent: cursor("composer-2"),
    sandbox: bubblewrap({ network: true, path, mounts: [agentMount(), ...mounts] }),
    branchStrategy: { type: "branch", branch: "agent/work" },
    cwd,
    prompt: "Greet the world, and commit.",
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { public: value }])),
    ...options,
  } as RunOptions);

const SDK = {
  path: `${NODE_22}:${SYSTEM_PATH}`,
  env: { NODE_PATH: MODULES, CURSOR_API_KEY: "fake" },
} as const;

const failure = async (place: Place) => {
  const cwd = temporaryRepository();
  const error = await failureOf(runCursor(cwd, place));
  expect(leftovers(cwd)).toEqual([]);
  return error;
};

/** A directory with a program that is called as one of Cursor's needs. */
const programs = (named: Readonly<Record<string, string>>): Place => {
  const directory = temporaryDirectory();
  for (const [name, source] of Object.entries(named)) {
    writeFileSync(join(directory, name), source);
    chmodSync(join(directory, name), 0o755);
  }
  const sandboxPath = "/opt/programs";
  return { path: `${sandboxPath}:${SYSTEM_PATH}`, mounts: [{ hostPath: directory, sandboxPath }] };
};

/**
 * Stands for Cursor's CLI, which is not on npm: it prints what the real one is documented to print, and keeps the
 * argument with the prompt.
 */
const CLI = `#!/bin/sh
for last; do :; done
printf '%s' "$last" >prompt.txt
git add prompt.txt && git commit -qm 'Keep the prompt'
echo '{"type":"system","subtype":"init","session_id":"c-1","model":"Composer","cwd":"/repo"}'
echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]},"session_id":"c-1"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"c-1"}'
`;

/** Whether the Node.js that a sandbox has, as it has the host's `/usr`, is one that the SDK refuses. */
const hasOldNode = (): boolean => {
  const { stdout } = spawnSync("node", ["--version"], { encoding: "utf8", env: { PATH: SYSTEM_PATH } });
  const [, major] = /^v(\d+)\./.exec(stdout ?? "") ?? [];
  return Number(major) < 22;
};

describeSideBySide("Cursor", () => {
  describeWith(["cursor sdk", "bubblewrap"], "Cursor's real SDK", () => {
    it.each([
      [401, AgentAuthenticationError],
      [429, AgentRateLimitError],
      [503, AgentOverloadedError],
    ])("whose servers answer with %d fails with an error of that kind", async (status, type) => {
      const { url, paths } = await backend(status);
      const error = await failure({ ...SDK, env: { ...SDK.env, CURSOR_BACKEND_URL: url } });
      expect(error).toBeInstanceOf(type);
      expect(paths).not.toEqual([]);
    });

    it("is also found in the directory that CURSOR_SDK names", async () => {
      const { url } = await backend(401);
      const env = { CURSOR_SDK: `${MODULES}/@cursor/sdk`, CURSOR_API_KEY: "fake", CURSOR_BACKEND_URL: url };
      expect(await failure({ ...SDK, env })).toBeInstanceOf(AgentAuthenticationError);
    });

    it("without a key does not even ask", async () => {
      const { url, paths } = await backend(401);
      const env = { NODE_PATH: MODULES, CURSOR_API_KEY: "", CURSOR_BACKEND_URL: url };
      const error = await failure({ ...SDK, env });
      expect(error).toBeInstanceOf(AgentAuthenticationError);
      expect(error).toMatchObject({ problem: expect.stringContaining("CURSOR_API_KEY is not set") });
      expect(paths).toEqual([]);
    });

    it("that is not installed, nor the CLI, is missed with the line that installs it", async () => {
      const error = await failure({ ...SDK, env: { CURSOR_API_KEY: "fake" } });
      expect(error).toBeInstanceOf(AgentNotFoundError);
      expect(error).toMatchObject({ program: "cursor-agent" });
      expect(error.message).toContain(`  npm install --global ${pinnedPackage("cursor")}`);
    });

    it("begins the MCP servers that it is given, with their settings", async () => {
      const cwd = temporaryRepository();
      const greeters: unknown[] = [];
      const web = await serve(({ headers }, response) => {
        greeters.push(headers["x-greeter"]);
        response.writeHead(404).end();
      });
      const { hostPath, ...meeting } = { hostPath: temporaryDirectory(), sandboxPath: "/opt/meeting" };
      const { url } = await lettingIn();
      const controller = new AbortController();
      const options = {
        signal: controller.signal,
        mcpServers: {
          lines: {
            command: "sh",
            args: ["-c", `printf %s "$GREETER$SANDDUNE_MCP_CONFIG" >${meeting.sandboxPath}/greeter`],
            env: { GREETER: "Ada B" },
          },
          web: { url: `${web.url}/mcp`, headers: { "x-greeter": "Grace" } },
        },
      };
      const place = {
        ...SDK,
        env: { ...SDK.env, CURSOR_BACKEND_URL: url },
        mounts: [{ hostPath, ...meeting }],
      };
      const running = runCursor(cwd, place, options).catch((reason: unknown) => reason);
      const hasBegun = () => existsSync(join(hostPath, "greeter")) && greeters.length > 0;
      await Promise.race([running, waitFor(hasBegun, 100_000)]);
      controller.abort("enough");
      expect(await running).toBe("enough");
      expect(readFileSync(join(hostPath, "greeter"), "utf8")).toBe("Ada B");
      expect(new Set(greeters)).toEqual(new Set(["Grace"]));
      expect(web.paths[0]).toBe("/mcp");
    });

    it("that is aborted while its servers do not answer leaves no process behind", async () => {
      const cwd = temporaryRepository();
      const { url, paths } = await backend();
      const mark = `composer-${process.pid}`;
      const controller = new AbortController();
      const options = { agent: cursor(mark), signal: controller.signal };
      const place = { ...SDK, env: { ...SDK.env, CURSOR_BACKEND_URL: url } };
      const running = runCursor(cwd, place, options).catch((reason: unknown) => reason);
      await waitFor(() => paths.length > 0, 100_000);
      expect(processesWith(mark)).not.toEqual([]);
      controller.abort("enough");
      expect(await running).toBe("enough");
      await waitFor(() => processesWith(mark).length === 0);
    });
  });

  describeWith(["bubblewrap"], "a stand-in for Cursor's CLI", () => {
    it("is used where it is installed", async () => {
      const cwd = temporaryRepository();
      const result = await runCursor(cwd, programs({ "cursor-agent": CLI }));
      expect(result.warnings).toEqual([]);
      expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(result.iterations).toMatchObject([{ sessionId: "c-1" }]);
      expect(result.commits).toHaveLength(1);
      expect(git(cwd, "show", "agent/work:prompt.txt")).toBe("Greet the world, and commit.");
      expect(leftovers(cwd)).toEqual([]);
    });

    it("is told where a prompt of a megabyte is", async () => {
      const cwd = temporaryRepository();
      await runCursor(cwd, programs({ "cursor-agent": CLI }), { prompt: "x".repeat(1024 * 1024) });
      expect(git(cwd, "show", "agent/work:prompt.txt")).toMatch(
        /^Your task is written in the file \/\S+\. Read/,
      );
    });

    it("that says on stderr that no user is logged in fails with an authentication error", async () => {
      const source =
        "#!/bin/sh\necho \"Error: Authentication required. Please run 'cursor-agent login'\" >&2\nexit 1\n";
      expect(await failure(programs({ "cursor-agent": source }))).toBeInstanceOf(AgentAuthenticationError);
    });
  });

  describeWith(["cursor sdk", "bubblewrap"], "Cursor's SDK with another Node.js", () => {
    it("says which one it needs, where that is too old", async (context) => {
      if (!hasOldNode()) context.skip("this machine has no Node.js older than 22 in /usr");
      const error = await failure({ env: SDK.env });
      expect(error).toBeInstanceOf(AgentFailedError);
      expect(error).toMatchObject({ problem: expect.stringMatching(/needs Node\.js 22\.13, and this is/) });
    });
  });
});

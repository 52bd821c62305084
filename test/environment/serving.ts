import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { TestResults } from "../../src/environment/contract.ts";
import { type OpenTestsOptions, openTests } from "../../src/environment/run/openTests.ts";
import type { ReadyTests } from "../../src/environment/run/readyTests.ts";
import { startTestServer, type TestServerOptions } from "../../src/environment/server/testServer.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { writeFiles } from "../helpers/repository/writeFiles.ts";
import { toolFile } from "./builtTool.ts";

type Files = Readonly<Record<string, string>>;
type ServerOptions = Partial<Omit<TestServerOptions, "tests">>;

/** A folder with these files, gone after the test unless it is another place. */
export const folder = (files: Files, directory = temporaryDirectory()): string => {
  writeFiles(directory, files);
  return directory;
};

/** The text of a definition: members of the object that it exports. */
export const definition = (members: string): string => `import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineEnvironment, suite } from "@missingstudio/sanddune/environment";
export default defineEnvironment({ ${members} });
`;

export interface Opened {
  readonly tests: ReadyTests;
  readonly directory: string;
  /** What is tested: an empty directory. */
  readonly worktree: string;
  readonly progress: string[];
}

export interface Served extends Opened {
  readonly url: string;
  close(): Promise<void>;
}

const openPlace = async (
  place: Pick<Opened, "directory" | "worktree">,
  options: Partial<OpenTestsOptions> = {},
): Promise<Opened> => {
  const progress: string[] = [];
  const onProgress = (sentence: string) => void progress.push(sentence);
  const tests = await openTests({ ...place, tool: toolFile(), onProgress, ...options });
  return { tests, ...place, progress };
};

/** The tests of a folder, ready to be run until the test is over. */
export const open = async (files: Files, options?: Partial<OpenTestsOptions>): Promise<Opened> => {
  const opened = await openPlace({ directory: folder(files), worktree: temporaryDirectory() }, options);
  onTestFinished(() => opened.tests.close());
  return opened;
};

export const openDefinition = (members: string, options?: Partial<OpenTestsOptions>): Promise<Opened> =>
  open({ "environment.mjs": definition(members) }, options);

/** The same, by a test server. */
export const serve = async (files: Files, options: ServerOptions = {}): Promise<Served> => {
  const opened = await open(files);
  const server = await startTestServer({ tests: opened.tests, ...options });
  onTestFinished(() => server.close());
  return { ...opened, url: server.url, close: server.close };
};

export const serveDefinition = (members: string, options?: ServerOptions) =>
  serve({ "environment.mjs": definition(members) }, options);

/** A test server for all tests of a file or suite, which leave it as it is. */
export const useServer = (files: Files): (() => Served) => {
  let root = "";
  let served: Served;
  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-test-")));
    const worktree = join(root, "worktree");
    mkdirSync(worktree);
    const opened = await openPlace({ directory: folder(files, join(root, "environment")), worktree });
    const server = await startTestServer({ tests: opened.tests });
    const close = async () => {
      await server.close();
      await opened.tests.close();
    };
    served = { ...opened, url: server.url, close };
  });
  afterAll(async () => {
    await served.close();
    rmSync(root, { recursive: true, force: true });
  });
  return () => served;
};

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text, read as JSON. */
  readonly body: Record<string, unknown> & Partial<TestResults>;
}

export interface HttpQuestion {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request as it is: no path is tidied up on the way. */
export const http = (url: string, path: string, { method = "POST", body, headers }: HttpQuestion = {}) =>
  new Promise<HttpAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request({ hostname, port, path, method, agent: false, ...(headers && { headers }) });
    asked.once("error", reject).once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.once("error", reject).once("end", () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers["content-type"] === "application/json";
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: isJson ? JSON.parse(text) : {},
        });
      });
    });
    asked.end(body);
  });

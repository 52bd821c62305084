import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { MirrorError } from "../../../src/errors.ts";
import { type Mirror, startMirror } from "../../../src/scenarios/mirror/mirror.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { asOrdinaryUser } from "../../helpers/runtimes/ordinaryUser.ts";

const startSite = async (directory: string) => {
  const site = join(directory, "site");
  mkdirSync(join(site, "guide/empty"), { recursive: true });
  writeFileSync(join(directory, "secret.txt"), "secret");
  writeFileSync(join(site, "index.html"), "<h1>Home</h1>");
  writeFileSync(join(site, "guide/index.html"), "<h1>Guide</h1>");
  writeFileSync(join(site, "manifest.json"), "{}");
  writeFileSync(join(site, "install.md"), "# Grüße");
  writeFileSync(join(site, "a b#?.TXT"), "odd");
  writeFileSync(join(site, "data.unknown"), Buffer.from([0, 1]));
  writeFileSync(join(site, "empty.txt"), "");
  writeFileSync(join(site, "large.bin"), Buffer.alloc(5 * 1024 * 1024));
  for (const name of [".git", ".sanddune", ".well-known"]) mkdirSync(join(site, name));
  for (const name of [".env", ".git/config", ".sanddune/.env", "guide/.env"]) {
    writeFileSync(join(site, name), "secret\n");
  }
  writeFileSync(join(site, ".well-known/product"), "known");
  writeFileSync(join(site, "closed.txt"), "closed");
  chmodSync(join(site, "closed.txt"), 0);
  execFileSync("mkfifo", [join(site, "pipe")]);
  symlinkSync("install.md", join(site, "link.md"));
  symlinkSync("../secret.txt", join(site, "secret-link.txt"));
  symlinkSync(".sanddune/.env", join(site, "logo.txt"));
  symlinkSync(".git", join(site, "history"));
  mkdirSync(join(site, "trap"));
  symlinkSync("../.env", join(site, "trap/index.html"));
  symlinkSync("..", join(site, "out"));
  return startMirror(site);
};

let directory = "";
let lasting: Mirror;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sanddune-test-"));
  lasting = await startSite(directory);
});
afterAll(async () => {
  await lasting.close();
  rmSync(directory, { recursive: true });
});

test.each([
  ["/", "<h1>Home</h1>", "text/html; charset=utf-8"],
  ["/guide/", "<h1>Guide</h1>", "text/html; charset=utf-8"],
  ["/guide", "<h1>Guide</h1>", "text/html; charset=utf-8"],
  ["/manifest.json?v=1", "{}", "application/json; charset=utf-8"],
  ["/install.md", "# Grüße", "text/markdown; charset=utf-8"],
  ["/link.md", "# Grüße", "text/markdown; charset=utf-8"],
  ["/.well-known/product", "known", "application/octet-stream"],
  ["/a%20b%23%3F.TXT", "odd", "text/plain; charset=utf-8"],
  ["/data.unknown", "\0\u0001", "application/octet-stream"],
  ["/empty.txt", "", "text/plain; charset=utf-8"],
])("The mirror serves %s", async (path, body, type) => {
  const { baseUrl } = lasting;
  const response = await fetch(baseUrl + path);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": `${Buffer.byteLength(body)}`,
  });
  expect(await response.text()).toBe(body);
  const head = await fetch(baseUrl + path, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe(`${Buffer.byteLength(body)}`);
  expect(await head.text()).toBe("");
});

test("A large file comes whole", async () => {
  const { baseUrl } = lasting;
  expect((await (await fetch(`${baseUrl}/large.bin`)).arrayBuffer()).byteLength).toBe(5 * 1024 * 1024);
});

/** What the server answers to a request as it is written here: a client of good manners would tidy up its path. */
const answerTo = async (baseUrl: string, requestLine: string): Promise<string> => {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
  socket.end(`${requestLine} HTTP/1.1\r\nHost: mirror\r\nConnection: close\r\n\r\n`);
  return text(socket);
};

test.each([
  "/none",
  "/guide/empty",
  "/guide/empty/",
  "/manifest.json/below",
  "/pipe",
  "/../secret.txt",
  "/guide/../../secret.txt",
  "/..",
  "/%2e%2e/secret.txt",
  "/.%2E/secret.txt",
  "/..%2fsecret.txt",
  "/%2e%2e%2fsecret.txt",
  "/..\\secret.txt",
  "/..%5csecret.txt",
  "//../secret.txt",
  "/install.md%00.txt",
  "/%",
  "/%ff",
  "/./install.md",
  "/secret-link.txt",
  "/out/secret.txt",
  "http://mirror/install.md",
  "/%252e%252e/secret.txt",
  "/.env",
  "/guide/.env",
  "/.sanddune/.env",
  "/%2esanddune/.env",
  "/.git/config",
  "/.GIT/config",
  "/logo.txt",
  "/history/config",
  "/trap/",
])("The mirror has nothing at %s", async (path) => {
  const { baseUrl } = lasting;
  const answer = await answerTo(baseUrl, `GET ${path}`);
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(answer).not.toContain("secret\n");
  expect(answer.split("\r\n\r\n")[1]).toBe("");
});

test("A file that cannot be read is not there", async () => {
  const own = temporaryDirectory();
  const { baseUrl, close } = await startSite(own);
  onTestFinished(close);
  await asOrdinaryUser(own, async () => {
    expect((await fetch(`${baseUrl}/install.md`)).status).toBe(200);
    expect((await fetch(`${baseUrl}/closed.txt`)).status).toBe(404);
  });
});

test.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])("The mirror refuses %s", async (method) => {
  const { baseUrl } = lasting;
  const response = await fetch(`${baseUrl}/install.md`, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
});

test("The mirror listens on this machine only", async () => {
  const { baseUrl } = lasting;
  expect(new URL(baseUrl).hostname).toBe("127.0.0.1");
});

test("The mirror closes although clients stay connected, in the middle of an answer, and can be closed twice", async () => {
  const mirror = await startSite(temporaryDirectory());
  const port = Number(new URL(mirror.baseUrl).port);
  const idle = connect(port, "127.0.0.1");
  const slow = connect(port, "127.0.0.1");
  await Promise.all([once(idle, "connect"), once(slow, "connect")]);
  slow.write("GET /large.bin HTTP/1.1\r\nHost: mirror\r\n\r\n");
  await once(slow, "readable");
  const ends = [idle, slow].map((socket) => {
    socket.on("error", () => {});
    return once(socket, "close");
  });
  await Promise.all([mirror.close(), mirror.close()]);
  idle.resume();
  slow.resume();
  await Promise.all(ends);
  await expect(fetch(mirror.baseUrl)).rejects.toThrow();
});

test.each([
  ["is missing", () => {}, "no such file or directory"],
  ["is a file", (path: string) => writeFileSync(path, ""), "it is not a directory"],
])("A directory that %s cannot be served, and the error says so", async (_, make, problem) => {
  const path = join(temporaryDirectory(), "site");
  make(path);
  const starting = startMirror(path);
  await expect(starting).rejects.toThrow(MirrorError);
  await expect(starting).rejects.toThrow(`${path}: ${problem}`);
});

import { constants, realpathSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { MirrorError } from "../../errors.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { findInside } from "../project/findInside.ts";
import { isPrivateDirectory, isPrivateFile } from "../suite/privateNames.ts";
import { contentTypeOf } from "./contentTypes.ts";

/** A web server for the files of one directory, on this machine only. */
export interface Mirror {
  readonly baseUrl: string;
  /** Stops the server and closes open connections. Idempotent. */
  close(): Promise<void>;
}

const INDEX = "index.html";

/** Private files are not served, even if they are in the directory. */
const isPrivate = (name: string): boolean => isPrivateDirectory(name) || isPrivateFile(name);

/** Excludes names that could lead to another directory. */
const isPlainName = (name: string): boolean => name !== ".." && name !== "." && !/[/\\\0]/.test(name);

/** The path of a request; `undefined` if no file can have that path. */
const requestedPath = (url: string): string | undefined => {
  try {
    const [path = ""] = url.split(/[?#]/);
    if (!path.startsWith("/")) return undefined;
    const names = path.slice(1).split("/").map(decodeURIComponent);
    return names.every(isPlainName) ? names.join("/") || "." : undefined;
  } catch {
    // The path is not encoded correctly.
    return undefined;
  }
};

/** The file that a path leads to, through links; `undefined` if there is none, or it is private. */
const findFile = (root: string, path: string): string | undefined => {
  const place = findInside(root, path);
  if (relative(root, place.path).split(sep).some(isPrivate)) return undefined;
  if (place.status?.isFile()) return place.path;
  return place.status?.isDirectory() && !path.endsWith(INDEX) ? findFile(root, join(path, INDEX)) : undefined;
};

const openRequested = async (
  root: string,
  url: string,
): Promise<{ readonly path: string; readonly file: FileHandle } | undefined> => {
  const requested = requestedPath(url);
  if (requested === undefined) return undefined;
  try {
    const path = findFile(root, requested);
    if (path === undefined) return undefined;
    return { path, file: await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) };
  } catch {
    // The path leads out of the directory, or cannot be read.
    return undefined;
  }
};

const HEADERS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };

const refuse = (response: ServerResponse, status: number, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { ...HEADERS, ...headers, "Content-Length": 0 }).end();
};

const serve = async (root: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.method !== "GET" && request.method !== "HEAD") {
    refuse(response, 405, { Allow: "GET, HEAD" });
    return;
  }
  const found = await openRequested(root, request.url ?? "");
  if (found === undefined) {
    refuse(response, 404);
    return;
  }
  try {
    const { size } = await found.file.stat();
    response.writeHead(200, {
      ...HEADERS,
      "Content-Type": contentTypeOf(found.path),
      "Content-Length": size,
    });
    if (request.method === "HEAD" || size === 0) response.end();
    // The file may be growing: send only as many bytes as were announced.
    else await pipeline(found.file.createReadStream({ autoClose: false, end: size - 1 }), response);
  } finally {
    await found.file.close();
  }
};

const realDirectory = (directory: string): string => {
  try {
    const path = realpathSync(directory);
    if (!statSync(path).isDirectory()) throw new Error("it is not a directory");
    return path;
  } catch (cause) {
    throw new MirrorError(directory, reasonOf(cause), { cause });
  }
};

/** Starts the local mirror, which serves this directory in place of the product's site. */
export const startMirror = async (directory: string): Promise<Mirror> => {
  const root = realDirectory(directory);
  const server = createServer((request, response) => {
    // The client has disconnected, or the file has shrunk: there is no response to send.
    serve(root, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  }).catch((cause) => {
    throw new MirrorError(directory, reasonOf(cause), { cause });
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () => {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
};

import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Artifact } from "../../options/results.ts";

/** The maximum size of all artifacts. */
export const MAX_ARTIFACT_BYTES = 100 * 1024 * 1024;

const HEADER = /^(file|large) (\d{1,9}) (\d{1,15})$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Lines are short: writing each of them separately would take most of the time. */
const CHUNK_BYTES = 256 * 1024;

interface Incoming {
  readonly artifact: Artifact;
  readonly descriptor: number | undefined;
  missing: number;
  /** Bytes that are not written yet. */
  pending: Buffer[];
  pendingBytes: number;
}

/** A nearly full disk accepts a part, and fails at the next write only. */
const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
};

const flush = (incoming: Incoming): void => {
  const { descriptor, pending } = incoming;
  incoming.pending = [];
  incoming.pendingBytes = 0;
  try {
    if (descriptor !== undefined) writeAll(descriptor, Buffer.concat(pending));
  } catch (error) {
    // The file is incomplete.
    incoming.missing = Number.POSITIVE_INFINITY;
    throw error;
  }
};

/**
 * Splits the output of a sandbox into files on the host. The output is not trusted: only names that the host has
 * requested are written, and no more bytes than were announced.
 */
export class ArtifactReceiver {
  readonly artifacts: Artifact[] = [];
  /** The files that were not copied, with the reason. */
  readonly refused: string[] = [];
  #incoming: Incoming | undefined;
  #left = MAX_ARTIFACT_BYTES;
  #lastIndex = -1;

  constructor(
    private readonly paths: readonly string[],
    private readonly directory: string,
  ) {}

  line(line: string): void {
    const [, kind, index, size] = HEADER.exec(line) ?? [];
    if (kind === undefined) {
      this.#content(line);
      return;
    }
    this.end();
    const path = this.paths[Number(index)];
    if (path === undefined || Number(index) <= this.#lastIndex)
      throw new Error("the sandbox sent files that were not requested");
    this.#lastIndex = Number(index);
    if (kind === "large" || Number(size) > this.#left) this.refused.push(`${path} (${size} bytes)`);
    else this.#open(path, Number(size));
  }

  #open(path: string, bytes: number): void {
    const hostPath = join(this.directory, path);
    let descriptor: number | undefined;
    try {
      mkdirSync(dirname(hostPath), { recursive: true, mode: 0o700 });
      descriptor = openSync(hostPath, "wx", 0o600);
    } catch (error) {
      this.refused.push(`${path} (${(error as NodeJS.ErrnoException).code})`);
    }
    this.#left -= bytes;
    const artifact = { path, hostPath, bytes };
    this.#incoming = { artifact, descriptor, missing: bytes, pending: [], pendingBytes: 0 };
  }

  /** Each line encodes a multiple of three bytes, so that it can be decoded separately. */
  #content(line: string): void {
    const incoming = this.#incoming;
    if (incoming === undefined || !BASE64.test(line)) throw new Error("the sandbox printed something else");
    const bytes = Buffer.from(line, "base64");
    incoming.missing -= bytes.length;
    if (incoming.missing < 0) throw new Error("the sandbox printed more than it said");
    incoming.pendingBytes += bytes.length;
    incoming.pending.push(bytes);
    if (incoming.pendingBytes >= CHUNK_BYTES) flush(incoming);
  }

  /** Ends a file: an incomplete file is removed. */
  end(): void {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    if (incoming?.descriptor === undefined) return;
    const { artifact, descriptor } = incoming;
    try {
      flush(incoming);
    } catch {}
    closeSync(descriptor);
    if (incoming.missing === 0) {
      this.artifacts.push(artifact);
      return;
    }
    rmSync(artifact.hostPath, { force: true });
    this.refused.push(`${artifact.path} (it arrived incomplete)`);
  }
}

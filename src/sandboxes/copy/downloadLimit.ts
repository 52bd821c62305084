import { statfsSync } from "node:fs";

/**
 * A connection that brings less than this in its first minute brings nothing; in its second, less than twice as much, and so
 * on: what goes on for long has to be large. No more is asked for than a slow line can do.
 */
const WINDOW = { ms: 60_000, bytes: 64 * 1024, growsFor: 12 } as const;
/** How often the disk is looked at, because others fill it, too. */
const LOOK_BYTES = 64 * 1024 * 1024;
/** Runs beside this one need a disk, too. */
const RESERVED_BYTES = 256 * 1024 * 1024;

export interface DownloadLimit {
  /** Aborted with an `Error` that says in words why no more is taken. */
  readonly signal: AbortSignal;
  /** Called for all that arrives, before it is kept. */
  count(bytes: number): void;
  end(): void;
}

/**
 * Watches what a sandbox sends to be kept in a directory of the host. Whoever is in there can send without end, or
 * begin and never go on: that must fill no disk, and hold up nobody.
 */
export const limitDownload = (directory: string): DownloadLimit => {
  const room = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return Math.max(0, bavail * bsize - RESERVED_BYTES);
  };
  const stopped = new AbortController();
  let left = room();
  let sinceLook = 0;
  let inWindow = 0;
  let windows = 0;
  const timer = setInterval(() => {
    windows++;
    if (inWindow < WINDOW.bytes * Math.min(windows, WINDOW.growsFor))
      stopped.abort(new Error(`it sent almost nothing in ${WINDOW.ms} ms`));
    inWindow = 0;
  }, WINDOW.ms);
  return {
    signal: stopped.signal,
    count: (bytes) => {
      left -= bytes;
      sinceLook += bytes;
      inWindow += bytes;
      if (left < 0) throw new Error("it is larger than the free disk space");
      if (sinceLook < LOOK_BYTES) return;
      sinceLook = 0;
      left = Math.min(left, room());
    },
    end: () => clearInterval(timer),
  };
};

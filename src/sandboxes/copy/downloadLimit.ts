import { statfsSync } from "node:fs";

/**
 * A download that sends less than this in its first minute is stopped; in its second, less than twice as much, and so on: a long
 * download has to be a large one. A slow line can still keep up.
 */
const WINDOW = { ms: 60_000, bytes: 64 * 1024, growsFor: 12 } as const;
/** How often the free disk space is checked, because other processes use it, too. */
const LOOK_BYTES = 64 * 1024 * 1024;
/** Other runs need disk space, too. */
const RESERVED_BYTES = 256 * 1024 * 1024;

export interface DownloadLimit {
  /** Aborted with an `Error` that says why the download is stopped. */
  readonly signal: AbortSignal;
  /** Called for all data, before it is written. */
  count(bytes: number): void;
  end(): void;
}

/**
 * Limits data that a sandbox sends into a host directory. A hostile sandbox could send without end, or stop in the middle: that
 * must neither fill the disk nor block the caller.
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

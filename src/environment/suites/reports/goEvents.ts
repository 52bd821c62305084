/** The used members of an event of `go test -json`. Absent names are empty. */
export interface GoEvent {
  readonly action: string;
  readonly packageName: string;
  readonly testName: string;
  readonly elapsedMs: number;
  readonly output: string;
  /** For events of a build, and for packages that were not tested because of a failed build. */
  readonly build: string;
}

/** Names are keys here; a path has only the beginning. */
const MAX_NAME_CHARACTERS = 2000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const name = (value: unknown): string => text(value).slice(0, MAX_NAME_CHARACTERS);

/** The event on a line; `undefined` for other lines, which older versions of Go print between events. */
export const parseGoEvent = (line: string): GoEvent | undefined => {
  if (!line.startsWith("{")) return undefined;
  try {
    const event: Record<string, unknown> = JSON.parse(line);
    if (text(event["Action"]) === "") return undefined;
    return {
      action: text(event["Action"]),
      packageName: name(event["Package"]),
      testName: name(event["Test"]),
      elapsedMs: Number(event["Elapsed"] ?? 0) * 1000,
      output: text(event["Output"]),
      build: name(event["ImportPath"]) || name(event["FailedBuild"]),
    };
  } catch {
    return undefined;
  }
};

/** The package that older versions of Go report as not built. */
export const parseFailedBuild = (line: string): string | undefined =>
  /^FAIL\t(\S{1,2000}) \[(?:build|setup) failed\]/.exec(line)?.[1];

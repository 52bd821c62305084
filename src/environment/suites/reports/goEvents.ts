/** An event of `go test -json`, as far as it is of use. Names that are absent are empty. */
export interface GoEvent {
  readonly action: string;
  readonly packageName: string;
  readonly testName: string;
  readonly elapsedMs: number;
  readonly output: string;
  /** Of events of a build, and of what was not tested because of one. */
  readonly build: string;
}

/** A name is a key here, and only the beginning of it in a path. */
const MAX_NAME_CHARACTERS = 2000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const name = (value: unknown): string => text(value).slice(0, MAX_NAME_CHARACTERS);

/** The event on a line; nothing if it is something else, which older versions of Go print between them. */
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

/** A package that was not tested, as older versions of Go say it. */
export const parseFailedBuild = (line: string): string | undefined =>
  /^FAIL\t(\S{1,2000}) \[(?:build|setup) failed\]/.exec(line)?.[1];

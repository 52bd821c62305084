import { lstatSync, type PathLike, readdirSync, readFileSync, type Stats } from "node:fs";
import { withOpenDirectory } from "../../process/openDirectory.ts";
import { isObjectName } from "../objectName.ts";
import { fromText } from "../output.ts";
import { COMMON_DIRECTORY_FILE } from "../transfer/sandboxRepository.ts";

/**
 * The refs of a git directory that an agent could write to, read as text, by the same rules as the export from a
 * running sandbox. Git does not run there: the agent could also write its configuration, alternates and links.
 */
export interface AgentRefs {
  /** By ref name or `HEAD`. Names of linked worktrees' refs begin with `worktrees/`. */
  readonly objects: ReadonlyMap<string, string>;
  /** Stashes other than the last, which have no ref. */
  readonly stashes: readonly string[];
  /** Commits that a checkout has left on a detached HEAD, and autostashes. */
  readonly left: readonly string[];
  /** Short descriptions of what could not be read. */
  readonly problems: readonly string[];
  /** The commits in the reflog of a ref, newest first. */
  readonly log: (name: string) => readonly string[];
}

/** The limit includes refs of the host. */
const MAX_REFS = 1_000_000;
const MAX_DEPTH = 200;
const MAX_REF_BYTES = 4096;
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Git writes zeros for "no object". */
const NO_OBJECT = /^0+$/;
const PACKED_REF = /^([0-9a-f]{40}|[0-9a-f]{64}) (\S.*)$/;
const PEELED_TAG = /^\^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const LOG_LINE = /^(?:[0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) /;
const LEFT_BY_CHECKOUT = /^([0-9a-f]{40}|[0-9a-f]{64}) .*checkout: moving from [0-9a-f]{40,64} to /;
const AUTOSTASHES = ["MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"];

/** With one of these files, refs are in a format that only git reads, or in another directory. */
const ELSEWHERE = ["reftable", COMMON_DIRECTORY_FILE.name, COMMON_DIRECTORY_FILE.movedTo];

/** Names are `latin1`, which preserves any bytes. Valid UTF-8 is shown and compared as text. */
const asText = (name: string): string => {
  const bytes = Buffer.from(name, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : name;
};

class Reader {
  readonly objects = new Map<string, string>();
  readonly problems: string[] = [];

  readonly #root: string;

  constructor(gitDirectory: string) {
    this.#root = fromText(gitDirectory);
  }

  #fail(name: string, problem: string): void {
    this.problems.push(`${JSON.stringify(asText(name))} ${problem}`);
  }

  /**
   * Calls `use` if the path exists; records a problem if it cannot be read. Goes through open directories: no link is
   * followed, and refs may be nested deeper than the length of a path allows.
   */
  #at<A>(name: string, use: (path: PathLike, status: Stats) => A): A | undefined {
    const steps = name.split("/").filter((step) => step !== "");
    const last = steps.pop() ?? "";
    try {
      return withOpenDirectory(this.#root, steps, ({ entry }) => {
        const status = lstatSync(entry(last), { throwIfNoEntry: false });
        return status === undefined ? undefined : use(entry(last), status);
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") this.#fail(name, `cannot be read (${code})`);
      return undefined;
    }
  }

  exists(name: string): boolean {
    return this.#at(name, () => true) ?? false;
  }

  /** The text of a regular file; `undefined` if it does not exist. Links are problems: they may lead anywhere. */
  read(name: string, maxBytes: number): string | undefined {
    return this.#at(name, (path, status) => {
      if (status.isFile() && status.size <= maxBytes) return readFileSync(path, "latin1");
      this.#fail(name, status.isFile() ? "is too large" : "is not a regular file");
      return undefined;
    });
  }

  lines(name: string): string[] {
    return this.read(name, MAX_LIST_BYTES)?.split("\n") ?? [];
  }

  list(name: string): { readonly directories: readonly string[]; readonly others: readonly string[] } {
    const listed = this.#at(name, (path, status) => {
      if (!status.isDirectory()) {
        this.#fail(name, "is not a directory");
        return undefined;
      }
      const entries = readdirSync(path, { encoding: "latin1", withFileTypes: true });
      const namesOf = (isDirectory: boolean) =>
        entries.filter((entry) => entry.isDirectory() === isDirectory).map((entry) => entry.name);
      return { directories: namesOf(true), others: namesOf(false) };
    });
    return listed ?? { directories: [], others: [] };
  }

  /** Records the object of a ref. A symbolic ref needs no record, because its target has one. */
  readRef(name: string): void {
    const text = this.read(name, MAX_REF_BYTES)?.trimEnd();
    if (text === undefined || text.startsWith("ref: ")) return;
    if (isObjectName(text)) this.objects.set(asText(name), text);
    else {
      // The object of the same ref in packed-refs is outdated.
      this.objects.delete(asText(name));
      this.#fail(`the ref ${asText(name)}`, text === "" ? "is empty" : "is malformed");
    }
  }

  readRefsBelow(name: string, depth = 0): void {
    const { directories, others } = this.list(name);
    for (const entry of others) {
      // A ref that git has not finished writing.
      if (entry.endsWith(".lock")) continue;
      if (this.objects.size >= MAX_REFS) {
        if (!this.problems.includes(TOO_MANY)) this.problems.push(TOO_MANY);
        return;
      }
      this.readRef(`${name}/${entry}`);
    }
    for (const directory of directories) {
      if (depth < MAX_DEPTH) this.readRefsBelow(`${name}/${directory}`, depth + 1);
      else this.#fail(name, "has refs that are nested too deep");
    }
  }

  readPackedRefs(): void {
    for (const line of this.lines("packed-refs")) {
      if (line === "" || line.startsWith("#") || PEELED_TAG.test(line)) continue;
      const [, object, name] = PACKED_REF.exec(line) ?? [];
      if (object === undefined || name === undefined) {
        this.#fail("packed-refs", "is malformed");
        return;
      }
      this.objects.set(asText(name), object);
    }
  }
}

const TOO_MANY = `there are more than ${MAX_REFS} refs`;

const withoutNone = (objects: readonly string[]): string[] =>
  [...new Set(objects)].filter((object) => !NO_OBJECT.test(object));

/** Commits that a checkout has left on a detached HEAD of a worktree, and autostashes. */
const leftIn = (reader: Reader, prefix: string): string[] => [
  ...reader.lines(`${prefix}logs/HEAD`).flatMap((line) => LEFT_BY_CHECKOUT.exec(line)?.[1] ?? []),
  ...AUTOSTASHES.flatMap((file) => reader.lines(prefix + file).slice(0, 1)).filter((line) =>
    isObjectName(line),
  ),
];

export const readAgentRefs = (gitDirectory: string): AgentRefs => {
  const reader = new Reader(gitDirectory);
  reader.readPackedRefs();
  reader.readRefsBelow("refs");
  reader.readRef("HEAD");
  const worktrees = reader.list("worktrees").directories.map((id) => `worktrees/${id}/`);
  for (const prefix of worktrees) {
    reader.readRef(`${prefix}HEAD`);
    reader.readRefsBelow(`${prefix}refs`);
  }
  for (const name of ELSEWHERE) {
    if (reader.exists(name))
      reader.problems.push(`${JSON.stringify(name)} puts refs elsewhere, or in another format`);
  }
  const log = (name: string): string[] =>
    withoutNone(
      reader
        .lines(`logs/${name}`)
        .flatMap((line) => LOG_LINE.exec(line)?.[1] ?? [])
        .reverse(),
    );
  return {
    objects: reader.objects,
    // Only the last stash has a ref. Git deletes the reflog with the last stash.
    stashes: withoutNone(
      reader
        .lines("logs/refs/stash")
        .flatMap((line) => line.split(" ", 2))
        .filter(isObjectName),
    ),
    left: withoutNone(["", ...worktrees].flatMap((prefix) => leftIn(reader, prefix))),
    problems: reader.problems,
    log,
  };
};

/** Every object that a git directory refers to as work; `undefined` if that cannot be determined. */
export const namedObjects = (gitDirectory: string, ownRef?: string): ReadonlySet<string> | undefined => {
  const { objects, stashes, left, problems } = readAgentRefs(gitDirectory);
  if (problems.length > 0) return undefined;
  const named = [...objects].filter(([name]) => name !== ownRef).map(([, object]) => object);
  return new Set(withoutNone([...named, ...stashes, ...left]));
};

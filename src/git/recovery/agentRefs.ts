import { lstatSync, type PathLike, readdirSync, readFileSync, type Stats } from "node:fs";
import { isObjectName } from "../objectName.ts";
import { withOpenDirectory } from "../openDirectory.ts";
import { COMMON_DIRECTORY_FILE } from "../transfer/sandboxRepository.ts";

/**
 * The refs of a git directory that an agent could write to, read as text, by the same rules as the export from a living
 * sandbox. Git is not asked: the directory's configuration, its alternates and its links are the agent's, too.
 */
export interface AgentRefs {
  /** By their names, or `HEAD`; those of other worktrees begin with `worktrees/`. */
  readonly objects: ReadonlyMap<string, string>;
  /** Commits that are work and have no ref: older stashes, and what a checkout has left or a rebase will put back. */
  readonly stashes: readonly string[];
  readonly left: readonly string[];
  /** What is there and could not be read, in a few words each. */
  readonly problems: readonly string[];
  /** The commits that a log names, newest first: where a ref has been. */
  readonly log: (name: string) => readonly string[];
}

/** The refs of the host are among them. */
const MAX_REFS = 1_000_000;
const MAX_DEPTH = 200;
const MAX_REF_BYTES = 4096;
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** The name that git writes for "no object". */
const NO_OBJECT = /^0+$/;
const PACKED_REF = /^([0-9a-f]{40}|[0-9a-f]{64}) (\S.*)$/;
const PEELED_TAG = /^\^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const LOG_LINE = /^(?:[0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) /;
const LEFT_BY_CHECKOUT = /^([0-9a-f]{40}|[0-9a-f]{64}) .*checkout: moving from [0-9a-f]{40,64} to /;
const AUTOSTASHES = ["MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"];

/** Only git can read these refs, or they are elsewhere. */
const ELSEWHERE = ["reftable", COMMON_DIRECTORY_FILE.name, COMMON_DIRECTORY_FILE.movedTo];

/** Names can hold any bytes: `latin1` keeps them. Those that are text are told, and compared, as text. */
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
    this.#root = Buffer.from(gitDirectory).toString("latin1");
  }

  #fail(name: string, problem: string): void {
    this.problems.push(`${JSON.stringify(asText(name))} ${problem}`);
  }

  /**
   * Calls `use` unless there is nothing at that place. What cannot be read is a problem. Through held directories: no link
   * leads elsewhere, and an agent can nest refs more deeply than a path may be long.
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

  /** The text of a file; `undefined` if there is none. A link, which git would follow, may lead anywhere. */
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

  /** Notes what a file says that a ref points to. What points to another ref adds nothing to that. */
  readRef(name: string): void {
    const text = this.read(name, MAX_REF_BYTES)?.trimEnd();
    if (text === undefined || text.startsWith("ref: ")) return;
    if (isObjectName(text)) this.objects.set(asText(name), text);
    else {
      // An older object of that name, in packed-refs, is not where the ref was.
      this.objects.delete(asText(name));
      this.#fail(`the ref ${asText(name)}`, text === "" ? "is empty" : "is malformed");
    }
  }

  readRefsBelow(name: string, depth = 0): void {
    const { directories, others } = this.list(name);
    for (const entry of others) {
      // What git was about to write, and did not.
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

/** What HEAD of a worktree has left behind, or will put back. */
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
      reader.problems.push(`${JSON.stringify(name)} says that refs are elsewhere, or in another format`);
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
    // Of stashes only the last is a ref. Git deletes the log with the last of them.
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

/** Every object that a git directory names as work; `undefined` if that cannot be told. */
export const namedObjects = (gitDirectory: string, ownRef?: string): ReadonlySet<string> | undefined => {
  const { objects, stashes, left, problems } = readAgentRefs(gitDirectory);
  if (problems.length > 0) return undefined;
  const named = [...objects].filter(([name]) => name !== ownRef).map(([, object]) => object);
  return new Set(withoutNone([...named, ...stashes, ...left]));
};

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_STASH_REFS } from "../runRefs.ts";

/**
 * The refs of a git directory that an agent could write to, read as text. Git is not asked: the directory's
 * configuration, its alternates and its links are the agent's, too.
 */
export interface AgentRefs {
  /** By their names, or `HEAD`; those of other worktrees, and stashes, by names that tell what they are. */
  readonly objects: ReadonlyMap<string, string>;
  /** The branch that HEAD is on; `undefined` if it is detached. */
  readonly headTarget: string | undefined;
  /** What is there and could not be read, in a few words each. */
  readonly problems: readonly string[];
  /** The commits that a log names, newest first: where a ref has been. */
  readonly log: (name: string) => readonly string[];
}

/** More than any agent has reason to make. */
const MAX_REFS = 100_000;
const MAX_DEPTH = 32;
const MAX_REF_BYTES = 4096;
const MAX_LIST_BYTES = 64 * 1024 * 1024;

const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const NO_OBJECT = /^0+$/;
const PACKED_REF = /^([0-9a-f]{40}|[0-9a-f]{64}) (\S.*)$/;
const LOG_LINE = /^(?:[0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) /;

class Reader {
  readonly objects = new Map<string, string>();
  readonly problems: string[] = [];

  constructor(private readonly gitDirectory: string) {}

  /** The text of a file; `undefined` if there is none. Anything but a file of a sensible size is a problem. */
  read(name: string, maxBytes: number, isListed = false): string | undefined {
    const path = join(this.gitDirectory, name);
    try {
      const status = lstatSync(path, { throwIfNoEntry: false });
      if (status === undefined) {
        // Its name is not text.
        if (isListed) this.problems.push(`${JSON.stringify(name)} cannot be read`);
        return undefined;
      }
      if (status.isFile() && status.size <= maxBytes) return readFileSync(path, "utf8");
      this.problems.push(`${JSON.stringify(name)} is ${status.isFile() ? "too large" : "no file"}`);
    } catch (error) {
      this.#fail(name, error);
    }
    return undefined;
  }

  list(name: string): { readonly directories: readonly string[]; readonly others: readonly string[] } {
    try {
      const path = join(this.gitDirectory, name);
      const status = lstatSync(path, { throwIfNoEntry: false });
      if (status !== undefined && !status.isDirectory()) {
        this.problems.push(`${JSON.stringify(name)} is no directory`);
      } else if (status !== undefined) {
        const entries = readdirSync(path, { withFileTypes: true });
        const namesOf = (isDirectory: boolean) =>
          entries.filter((entry) => entry.isDirectory() === isDirectory).map((entry) => entry.name);
        return { directories: namesOf(true), others: namesOf(false) };
      }
    } catch (error) {
      this.#fail(name, error);
    }
    return { directories: [], others: [] };
  }

  /** Notes what a file says that a ref points to. What points to another ref adds nothing to that. */
  readRef(name: string, isListed = false): string | undefined {
    const text = this.read(name, MAX_REF_BYTES, isListed)?.trimEnd();
    if (text === undefined) return undefined;
    const [, target] = /^ref: *(.*)$/.exec(text) ?? [];
    if (target !== undefined) return target;
    if (OBJECT_NAME.test(text)) this.objects.set(name, text);
    else {
      // An older object of that name, in packed-refs, is not where the ref was.
      this.objects.delete(name);
      this.problems.push(`the ref ${JSON.stringify(name)} is ${text === "" ? "empty" : "malformed"}`);
    }
    return undefined;
  }

  readRefsBelow(name: string, depth = 0): void {
    const { directories, others } = this.list(name);
    for (const entry of others) {
      // What git was about to write, and did not.
      if (entry.endsWith(".lock")) continue;
      if (this.objects.size >= MAX_REFS) {
        if (this.problems.at(-1) !== TOO_MANY) this.problems.push(TOO_MANY);
        return;
      }
      this.readRef(`${name}/${entry}`, true);
    }
    for (const directory of directories) {
      if (depth < MAX_DEPTH) this.readRefsBelow(`${name}/${directory}`, depth + 1);
      else this.problems.push(`refs are nested too deep in ${JSON.stringify(name)}`);
    }
  }

  #fail(name: string, error: unknown): void {
    this.problems.push(`${JSON.stringify(name)} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

const TOO_MANY = `there are more than ${MAX_REFS} refs`;

const readPackedRefs = (reader: Reader): void => {
  const lines = reader.read("packed-refs", MAX_LIST_BYTES)?.split("\n") ?? [];
  for (const line of lines) {
    const [, object, name] = PACKED_REF.exec(line) ?? [];
    if (object === undefined || name === undefined) continue;
    if (reader.objects.size >= MAX_REFS) {
      reader.problems.push(TOO_MANY);
      return;
    }
    reader.objects.set(name, object);
  }
};

/** Reads all refs of a git directory, and where its other worktrees are. */
export const readAgentRefs = (gitDirectory: string): AgentRefs => {
  const reader = new Reader(gitDirectory);
  readPackedRefs(reader);
  reader.readRefsBelow("refs");
  const headTarget = reader.readRef("HEAD");
  for (const id of reader.list("worktrees").directories) {
    reader.readRef(`worktrees/${id}/HEAD`);
    reader.readRefsBelow(`worktrees/${id}/refs`);
  }
  if (reader.list("reftable").others.length > 0)
    reader.problems.push("its refs are in a format that only git can read");
  const log = (name: string): string[] =>
    (reader.read(`logs/${name}`, MAX_LIST_BYTES)?.split("\n") ?? [])
      .flatMap((line) => LOG_LINE.exec(line)?.[1] ?? [])
      .filter((object) => !NO_OBJECT.test(object))
      .reverse();
  // Of stashes only the last is a ref; the others are in its log.
  const lastStash = reader.objects.get("refs/stash");
  if (reader.objects.delete("refs/stash")) {
    let number = 0;
    for (const object of new Set([lastStash as string, ...log("refs/stash")])) {
      // The agent may have a ref of that name.
      do number++;
      while (reader.objects.has(`${SANDBOX_STASH_REFS}${number}`));
      reader.objects.set(`${SANDBOX_STASH_REFS}${number}`, object);
    }
  }
  return { objects: reader.objects, headTarget, problems: reader.problems, log };
};

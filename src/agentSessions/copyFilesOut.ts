import { closeSync, openSync, writeSync } from "node:fs";
import { extname, join } from "node:path";
import type { AgentSessions } from "../agents/contract.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { globMatcher } from "../tools/globs.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { LAST_WORDS_BYTES, MAX_FILE_BYTES, MAX_FILES, MAX_SESSION_BYTES } from "./limits.ts";

/** A file that was copied out of the sandbox. */
export interface TakenFile {
  /** Relative to the agent's directory. */
  readonly file: string;
  /** The path of its content on the host. */
  readonly path: string;
}

/** The agent's session directory, as a shell expression. */
export const directoryWords = ({ directory: { variable, inHome } }: AgentSessions): string =>
  variable === undefined ? `"$HOME/${inHome}"` : `"\${${variable}:-$HOME/${inHome}}"`;

/** A pattern as a shell word in which only the stars are expanded. */
export const patternWords = (pattern: string): string =>
  pattern
    .split("*")
    .map((part) => (part === "" ? "" : shellQuote(part)))
    .join("*");

/** Prints files whose content belongs to the session, unless their names did already. */
const printRelated = (sessions: AgentSessions, sessionId: string): string => {
  const related = sessions.related?.(sessionId);
  if (related === undefined) return "";
  return `for file in ${patternWords(related.pattern)}; do
  case "$file" in *${sessionId}*) continue ;; esac
  if [ -f "$file" ] && head -n 1 <"$file" | grep -qF ${shellQuote(related.firstLineHolds)}; then _sanddune_print "$file"; fi
done`;
};

/** Prints for each file of a session a line with its size and name, and then its content in Base64. */
const printFiles = (sessions: AgentSessions, sessionId: string): string => {
  const exportFirst = sessions.exportCommand?.(sessionId);
  return `${exportFirst === undefined ? "" : `{ ${exportFirst}\n} >&2 </dev/null || exit 1\n`}pwd -P
cd -- ${directoryWords(sessions)} 2>/dev/null || exit 0
pwd -P
_sanddune_print() {
  if [ -L "$1" ]; then printf 'link 0 %s\\n' "$1"
  elif [ -f "$1" ]; then
    size=$(wc -c <"$1")
    printf 'file %d %s\\n' "$size" "$1"
    [ "$size" -gt ${MAX_FILE_BYTES} ] || head -c ${MAX_FILE_BYTES} <"$1" | base64 || exit 1
  fi
}
for file in ${sessions.files(sessionId).map(patternWords).join(" ")}; do _sanddune_print "$file"; done
${printRelated(sessions, sessionId)}`;
};

const WRITE_BYTES = 256 * 1024;
const HEADER = /^(file|link) (\d+) (.+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Splits the output of a sandbox into files on the host. Does not trust any of it. */
class Receiver {
  readonly files: TakenFile[] = [];
  /** The agent's working directory and home directory in the sandbox. */
  readonly places: string[] = [];
  #open: number | undefined;
  #total = 0;
  /** The state of the current file. */
  #missing = 0;
  /** Buffered, because lines are short. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(
    private readonly isExpected: (file: string) => boolean,
    private readonly targetDirectory: string,
  ) {}

  /** Each line has whole groups of three bytes, so it can be decoded by itself. */
  #content(line: string): void {
    if (this.#open === undefined || !BASE64.test(line))
      throw new Error("the sandbox printed unexpected output");
    const bytes = Buffer.from(line, "base64");
    this.#total += bytes.length;
    this.#missing -= bytes.length;
    if (this.#total > MAX_SESSION_BYTES) throw new Error("it is too large");
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= WRITE_BYTES) this.#flush();
  }

  line(line: string): void {
    if (this.places.length < 2) {
      this.places.push(line);
      return;
    }
    const [, kind, size, file] = HEADER.exec(line) ?? [];
    if (kind === undefined || file === undefined) {
      this.#content(line);
      return;
    }
    this.end();
    if (!this.isExpected(file)) throw new Error(`${JSON.stringify(file)} is not one of its files`);
    if (kind === "link") throw new Error(`${file} is a symbolic link`);
    if (Number(size) > MAX_FILE_BYTES) throw new Error(`${file} is too large: ${size} bytes`);
    if (this.files.length >= MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
    const path = join(this.targetDirectory, `${this.files.length}${extname(file)}`);
    this.#open = openSync(path, "wx", 0o600);
    this.#missing = Number(size);
    this.files.push({ file, path });
  }

  /** Ends a file. It may have grown since its size was printed, but not shrunk. */
  end(): void {
    this.close();
    if (this.#missing > 0) throw new Error("one of its files arrived incomplete");
  }

  #flush(): void {
    if (this.#open !== undefined) writeSync(this.#open, Buffer.concat(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  close(): void {
    this.#flush();
    if (this.#open !== undefined) closeSync(this.#open);
    this.#open = undefined;
  }
}

/** Copies the files of a session from the sandbox into a directory on the host. */
export const takeFiles = async (
  handle: SandboxHandle,
  sessions: AgentSessions,
  sessionId: string,
  where: {
    readonly cwd: string;
    readonly targetDirectory: string;
    readonly signal: AbortSignal;
    readonly redactCaptured: (text: string, captureBytes: number) => string;
  },
): Promise<{ readonly files: readonly TakenFile[]; readonly directory: string }> => {
  const related = sessions.related?.(sessionId);
  const patterns = [...sessions.files(sessionId), ...(related === undefined ? [] : [related.pattern])];
  const receiver = new Receiver(globMatcher(patterns), where.targetDirectory);
  const stop = new AbortController();
  let problem: unknown;
  const onLine = (line: string) => {
    if (problem !== undefined) return;
    try {
      receiver.line(line);
    } catch (reason) {
      problem = reason;
      stop.abort(reason);
    }
  };
  try {
    const { exitCode, stderr } = await handle.exec(printFiles(sessions, sessionId), {
      cwd: where.cwd,
      signal: AbortSignal.any([where.signal, stop.signal]),
      onLine,
      captureBytes: LAST_WORDS_BYTES,
    });
    if (problem !== undefined) throw problem;
    const lastWords = where.redactCaptured(stderr, LAST_WORDS_BYTES).trim();
    if (exitCode !== 0) throw new Error(lastWords || `it could not be read (exit code ${exitCode})`);
    receiver.end();
  } catch (reason) {
    throw problem ?? reason;
  } finally {
    receiver.close();
  }
  return { files: receiver.files, directory: receiver.places[1] ?? "" };
};

import type { AgentSessions } from "../agents/contract.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { globMatcher } from "../tools/globs.ts";
import { directoryWords, patternWords } from "./copyFilesOut.ts";

/** An agent session in a sandbox, by its main file. */
export interface FoundSession {
  readonly sessionId: string;
  /** Relative to the agent's directory. */
  readonly file: string;
  readonly bytes: number;
  /** The ids in its first line: its own, and that of its parent session. */
  readonly mentions: readonly string[];
}

const MAX_FILES = 200;
const FIRST_LINE_BYTES = 2000;
const CAPTURE_BYTES = 1024 * 1024;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Prints two lines for each file, most recent first: its size and name, and its first line. */
const listScript = (sessions: AgentSessions): string => {
  const [anySession = ""] = sessions.files("*");
  return `cd -- ${directoryWords(sessions)} 2>/dev/null || exit 0
ls -dt -- ${patternWords(anySession)} 2>/dev/null | head -n ${MAX_FILES} | while IFS= read -r file; do
  [ -f "$file" ] && [ ! -L "$file" ] || continue
  printf '%d %s\\n' "$(wc -c <"$file")" "$file"
  head -n 1 <"$file" | head -c ${FIRST_LINE_BYTES} | tr -cd '[:print:]'
  echo
done`;
};

/** The id is in the name of the file, or partly in the name and completely in the first line. */
const readSession = (
  sessions: AgentSessions,
  [header = "", firstLine = ""]: readonly string[],
): FoundSession | undefined => {
  const [, bytes, file] = /^(\d+) (.+)$/.exec(header) ?? [];
  if (file === undefined) return undefined;
  const mentions = firstLine.match(ID) ?? [];
  const sessionId = [...(file.match(ID) ?? []), ...mentions].find((id) =>
    globMatcher(sessions.files(id).slice(0, 1))(file),
  );
  return sessionId === undefined ? undefined : { sessionId, file, bytes: Number(bytes), mentions };
};

/** Lists the sessions of an agent in a sandbox, most recent first. The list is untrusted. */
export const findSessions = async (
  handle: SandboxHandle,
  sessions: AgentSessions,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<FoundSession[]> => {
  const { stdout } = await handle.exec(listScript(sessions), { ...options, captureBytes: CAPTURE_BYTES });
  const lines = stdout.split("\n");
  return lines
    .flatMap((_, index) => (index % 2 === 0 ? [readSession(sessions, lines.slice(index, index + 2))] : []))
    .filter((session) => session !== undefined);
};

/** The new and changed sessions, without those of subagents, which belong to another session. */
export const changedSessions = (
  before: readonly FoundSession[],
  after: readonly FoundSession[],
): FoundSession[] => {
  const sizes = new Map(before.map(({ file, bytes }) => [file, bytes]));
  const changed = after.filter(({ file, bytes }) => sizes.get(file) !== bytes);
  const ids = new Set(changed.map(({ sessionId }) => sessionId));
  return changed.filter(
    ({ sessionId, mentions }) => !mentions.some((other) => other !== sessionId && ids.has(other)),
  );
};

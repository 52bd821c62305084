import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import type { EntryKind, ProjectFiles } from "../project/projectFiles.ts";
import { type Finding, quoteStart, type Redact, type TimeLimit } from "./finding.ts";
import { matchRegex } from "./matchRegex.ts";

const MAX_READ_BYTES = 64 * 1024 * 1024;
const MAX_REGEX_MS = 5000;

const KINDS: Record<EntryKind, string> = {
  file: "a file is there",
  directory: "a directory is there",
  absent: "nothing is there",
  other: "something is there that is neither a file nor a directory",
};

/** Whether the entry at a path is of the expected kind. */
export const checkKind = (files: ProjectFiles, path: string, expected: EntryKind): Finding => {
  const kind = files.kindOf(path);
  return { ok: kind === expected, detail: KINDS[kind] };
};

export const checkContains = async (
  files: ProjectFiles,
  { path, substr }: { readonly path: string; readonly substr: string },
  redact: Redact,
): Promise<Finding> => {
  const content = await files.read(path, MAX_READ_BYTES);
  const index = content.indexOf(substr);
  return index === -1
    ? { ok: false, detail: `not found in ${content.length} bytes: ${quoteStart(content.toString(), redact)}` }
    : { ok: true, detail: `found at byte ${index} of ${content.length}` };
};

export const checkMatches = async (
  files: ProjectFiles,
  { path, regex }: { readonly path: string; readonly regex: string },
  redact: Redact,
  { timeoutMs, signal }: TimeLimit,
): Promise<Finding> => {
  const text = (await files.read(path, MAX_READ_BYTES)).toString();
  const match = await matchRegex(regex, text, Math.min(timeoutMs, MAX_REGEX_MS), signal);
  return match === null
    ? { ok: false, detail: `no match in ${text.length} characters: ${quoteStart(text, redact)}` }
    : { ok: true, detail: `matches at character ${match.index}: ${quoteStart(match.start, redact)}` };
};

export const checkSha256 = async (
  files: ProjectFiles,
  expected: { readonly path: string; readonly sha256: string },
  { timeoutMs, signal }: TimeLimit,
): Promise<Finding> => {
  const sha256 = await withTimeLimit(timeoutMs, signal, (limit) => files.sha256(expected.path, limit));
  return { ok: sha256 === expected.sha256.toLowerCase(), detail: `it is ${sha256}` };
};

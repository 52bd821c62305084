import { reasonOf } from "../../tools/files/reasonOf.ts";
import type { ProjectFiles } from "../project/projectFiles.ts";
import type { AssertionRecord } from "../records/record.ts";
import type { ProjectCommandRunner } from "../sandbox/projectCommandRunner.ts";
import type { Assertion } from "../spec.ts";
import { checkCommand } from "./commandAssertions.ts";
import { checkContains, checkKind, checkMatches, checkSha256 } from "./fileAssertions.ts";
import type { Finding, Redact, TimeLimit } from "./finding.ts";
import { checkGitClean } from "./gitClean.ts";

export interface GradingContext extends TimeLimit {
  readonly files: ProjectFiles;
  readonly commandRunner: ProjectCommandRunner;
  readonly redact: Redact;
  /** Called before each assertion: a command may have executed the agent's code. */
  readonly prepare: () => Promise<void>;
}

type CommandAssertion = Extract<
  Assertion,
  { readonly cmd_zero: unknown } | { readonly cmd_nonzero: unknown } | { readonly git_clean: unknown }
>;
type FileAssertion = Exclude<Assertion, CommandAssertion>;

const runsCommand = (assertion: Assertion): assertion is CommandAssertion =>
  "cmd_zero" in assertion || "cmd_nonzero" in assertion || "git_clean" in assertion;

const checkWithCommand = (
  assertion: CommandAssertion,
  { commandRunner, timeoutMs, signal }: GradingContext,
): Promise<Finding> => {
  const limit = { timeoutMs, signal };
  if ("git_clean" in assertion) return checkGitClean(commandRunner, assertion.git_clean, limit);
  return "cmd_zero" in assertion
    ? checkCommand(commandRunner, { argv: assertion.cmd_zero, ...limit }, "zero")
    : checkCommand(commandRunner, { argv: assertion.cmd_nonzero, ...limit }, "nonzero");
};

const checkFile = async (
  assertion: FileAssertion,
  { files, redact, timeoutMs, signal }: GradingContext,
): Promise<Finding> => {
  const limit = { timeoutMs, signal };
  if ("file_exists" in assertion) return checkKind(files, assertion.file_exists, "file");
  if ("dir_exists" in assertion) return checkKind(files, assertion.dir_exists, "directory");
  if ("file_absent" in assertion) return checkKind(files, assertion.file_absent, "absent");
  if ("dir_absent" in assertion) return checkKind(files, assertion.dir_absent, "absent");
  if ("file_contains" in assertion) return checkContains(files, assertion.file_contains, redact);
  if ("file_matches" in assertion) return checkMatches(files, assertion.file_matches, redact, limit);
  return checkSha256(files, assertion.sha256_equals, limit);
};

/** A file that cannot be read fails the assertion, because the agent has made it so. A lost sandbox rejects. */
const check = async (assertion: Assertion, context: GradingContext): Promise<Finding> => {
  if (runsCommand(assertion)) return checkWithCommand(assertion, context);
  await context.commandRunner.settle();
  try {
    return await checkFile(assertion, context);
  } catch (error) {
    context.signal.throwIfAborted();
    return { ok: false, detail: reasonOf(error) };
  }
};

const nameOf = (assertion: Assertion): string => {
  const [kind, value] = Object.entries(assertion)[0] as [string, unknown];
  return `${kind}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
};

/** Checks all assertions, one after the other, whether or not earlier ones fail. */
export const checkAssertions = async (
  assertions: readonly Assertion[],
  context: GradingContext,
): Promise<readonly AssertionRecord[]> => {
  const records: AssertionRecord[] = [];
  for (const assertion of assertions) {
    await context.prepare();
    records.push({ name: nameOf(assertion), ...(await check(assertion, context)) });
  }
  return records;
};

import assert from "node:assert/strict";
import type { AnySandboxHandle, CaseDefinition } from "./conformanceCase.ts";

type OpenSandbox = () => Promise<AnySandboxHandle>;

/** Also names that begin with a dot. */
const LIST_WORKTREE = "ls -A";
/** Also names that begin with a dash or a dot. */
const EMPTY_WORKTREE = "rm -rf ./* ./.[!.]* ./..?*";

const openEmpty = async (open: OpenSandbox): Promise<AnySandboxHandle> => {
  const sandbox = await open();
  try {
    const { stdout } = await sandbox.exec(LIST_WORKTREE, { cwd: sandbox.worktreePath });
    const message = `open() has to give the cases an empty worktree, since they delete what is in it. There is: ${stdout}`;
    assert.equal(stdout, "", message);
    return sandbox;
  } catch (error) {
    await sandbox.close();
    throw error;
  }
};

const emptyWorktree = async (sandbox: AnySandboxHandle): Promise<void> => {
  const { exitCode, stderr } = await sandbox.exec(EMPTY_WORKTREE, { cwd: sandbox.worktreePath });
  assert.equal(exitCode, 0, `the worktree cannot be emptied: ${stderr}`);
};

/** For a case that cannot share: it ends its sandbox, or another case is using the shared one. */
export const inOwnSandbox = async (open: OpenSandbox, { check }: CaseDefinition): Promise<void> => {
  const sandbox = await open();
  try {
    await check(sandbox);
  } finally {
    await sandbox.close();
  }
};

/** One sandbox for many cases, in turn. After a failed case the next one gets a new sandbox. */
export class SharedSandbox {
  #opened: Promise<AnySandboxHandle> | undefined;
  #isEmpty = true;
  #isInUse = false;

  constructor(private readonly open: OpenSandbox) {}

  async use(definition: CaseDefinition): Promise<void> {
    if (this.#isInUse) return inOwnSandbox(this.open, definition);
    this.#isInUse = true;
    try {
      await this.#check(definition);
    } catch (error) {
      // The error of the case is the one that its author has to see.
      await this.close().catch(() => {});
      throw error;
    } finally {
      this.#isInUse = false;
    }
  }

  /** Can be called again. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#isEmpty = true;
    const sandbox = await opened?.catch(() => undefined);
    await sandbox?.close();
  }

  async #check({ check, makesNoFiles = false }: CaseDefinition): Promise<void> {
    this.#opened ??= openEmpty(this.open);
    const sandbox = await this.#opened;
    if (!this.#isEmpty) await emptyWorktree(sandbox);
    this.#isEmpty = makesNoFiles;
    await check(sandbox);
  }
}

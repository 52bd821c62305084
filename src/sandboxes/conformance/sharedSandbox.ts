import assert from "node:assert/strict";
import type { AnySandboxHandle, CaseDefinition } from "./conformanceCase.ts";

/** Names that begin with a dash or a dot included. */
const EMPTY_WORKTREE = "rm -rf ./* ./.[!.]* ./..?*";

const emptyWorktree = async (sandbox: AnySandboxHandle): Promise<void> => {
  const { exitCode, stderr } = await sandbox.exec(EMPTY_WORKTREE, { cwd: sandbox.worktreePath });
  assert.equal(exitCode, 0, `the worktree cannot be emptied: ${stderr}`);
};

/**
 * One sandbox for many cases, one case at a time. A case that fails may leave anything behind, so the next one gets a
 * new sandbox.
 */
export class SharedSandbox {
  #opened: Promise<AnySandboxHandle> | undefined;
  #isEmpty = false;
  #lastUse: Promise<unknown> = Promise.resolve();

  constructor(private readonly open: () => Promise<AnySandboxHandle>) {}

  use(definition: CaseDefinition): Promise<void> {
    const use = this.#lastUse.then(() => this.#check(definition));
    this.#lastUse = use.catch(() => {});
    return use;
  }

  /** Waits for a running case, and can be called again. */
  close(): Promise<void> {
    const closing = this.#lastUse.then(() => this.#discard());
    this.#lastUse = closing.catch(() => {});
    return closing;
  }

  async #check({ check, makesNoFiles = false }: CaseDefinition): Promise<void> {
    try {
      this.#opened ??= this.open();
      const sandbox = await this.#opened;
      if (!this.#isEmpty) await emptyWorktree(sandbox);
      this.#isEmpty = makesNoFiles;
      await check(sandbox);
    } catch (error) {
      // The error of the case is the one that its author has to see.
      await this.#discard().catch(() => {});
      throw error;
    }
  }

  async #discard(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#isEmpty = false;
    const sandbox = await opened?.catch(() => undefined);
    await sandbox?.close();
  }
}

import { ConversationInput } from "./conversationInput.ts";
import { type Conversation, NoAnswer } from "./longLivedGit.ts";

interface OpenTransaction {
  readonly commit: () => void;
  readonly fail: (reason: NoAnswer) => void;
}

/**
 * One transaction after the other through one `git update-ref --stdin`. Git ends at the first that fails, so there is only
 * one at a time.
 */
export class RefTransactions implements Conversation {
  #input = new ConversationInput();
  #open: OpenTransaction | undefined;
  #output = "";

  get isBusy(): boolean {
    return this.#open !== undefined;
  }

  /** Performs the commands of a transaction: all or none. */
  commit(commands: readonly string[]): Promise<void> {
    if (this.#input.isOver || this.isBusy) return Promise.reject(new NoAnswer());
    return new Promise((commit, fail) => {
      this.#open = { commit, fail };
      this.#input.write(["start", ...commands, "commit", ""].join("\n"));
    });
  }

  input(): AsyncGenerator<Uint8Array> {
    return this.#input.read();
  }

  push(chunk: Buffer): void {
    this.#output += chunk.toString("latin1");
    if (!this.#output.endsWith("commit: ok\n")) return;
    this.#output = "";
    const open = this.#open;
    this.#open = undefined;
    open?.commit();
  }

  end(): void {
    this.#input.end();
    this.#open?.fail(new NoAnswer());
    this.#open = undefined;
  }
}

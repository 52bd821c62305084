import type { App, ModalClient, Sandbox } from "modal";
import { SandboxError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { inTime, type Patience } from "../../tools/wait/timeLimit.ts";
import { isNotFound, MODAL } from "./client.ts";
import { identifyingTags, type NamedSandbox } from "./tags.ts";

const TERMINATE_TIMEOUT_MS = 10_000;

/** Terminates a sandbox within a limit; one that has ended is fine. Rejects if it may still run. */
export const terminateModalSandbox = async (sandbox: Sandbox, requestTimeoutMs: number): Promise<void> => {
  const patience = { timeoutMs: Math.min(requestTimeoutMs, TERMINATE_TIMEOUT_MS) };
  const isOver = () =>
    inTime(() => sandbox.poll(), patience).then((exitCode) => exitCode !== null, isNotFound);
  try {
    await inTime(() => sandbox.terminate(), patience);
  } catch (cause) {
    if (isNotFound(cause) || (await isOver())) return;
    throw new SandboxError(
      MODAL,
      `the sandbox ${sandbox.sandboxId} could not be terminated. It ends when its lifetime is over, or try: ${sandduneCommand("clean")}`,
      String(cause),
      { cause },
    );
  } finally {
    sandbox.detach();
  }
};

/** An app's running sandboxes with these tags, checked again, because they are going to be ended. */
export const findTagged = (
  client: ModalClient,
  { appId }: App,
  named: NamedSandbox,
  patience: Patience,
): Promise<Sandbox[]> => {
  const tags = identifyingTags(named);
  const list = async () => {
    const found: Sandbox[] = [];
    for await (const sandbox of client.sandboxes.list({ appId, tags })) {
      const own = await sandbox.getTags();
      if (Object.entries(tags).every(([name, value]) => own[name] === value)) found.push(sandbox);
      else sandbox.detach();
    }
    return found;
  };
  return inTime(list, patience);
};

/** Terminates a sandbox of which only the tags are known. */
export const terminateTagged = async (
  client: ModalClient,
  app: App,
  named: NamedSandbox,
  patience: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<void> => {
  for (const sandbox of await findTagged(client, app, named, patience)) {
    await terminateModalSandbox(sandbox, patience.timeoutMs);
  }
};

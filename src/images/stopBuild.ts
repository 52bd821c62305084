import { killDescendantsOutside } from "../process/kill/killDescendants.ts";
import { onAbort } from "../tools/wait/onAbort.ts";

/** How long the engine may take to clean up after a killed step. */
const TIDY_MS = 5000;

export interface BuildStop extends Disposable {
  readonly signal: AbortSignal;
  onStart(pid: number): void;
}

/**
 * Ends a build when `signal` is aborted. Podman, when it is killed, leaves the commands of its step running and
 * their containers in its storage. So the commands are killed first: that ends the build like any other step that fails.
 * Docker's daemon does all of that by itself, once its client has gone.
 */
export const stopBuildOn = (signal: AbortSignal | undefined): BuildStop => {
  const controller = new AbortController();
  let client: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const endClient = () => controller.abort(signal?.reason);
  const stopWaiting = onAbort(signal, () => {
    const endsByItself = client !== undefined && killDescendantsOutside(client);
    if (endsByItself) timer = setTimeout(endClient, TIDY_MS);
    else endClient();
  });
  return {
    signal: controller.signal,
    onStart: (pid) => {
      client = pid;
    },
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      stopWaiting();
    },
  };
};

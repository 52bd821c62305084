import type { ProgressToken, ServerNotification } from "@modelcontextprotocol/sdk/types.js";
import { shorten } from "../../tools/shorten.ts";
import type { TestProgress } from "../contract.ts";

const MAX_MESSAGE_LENGTH = 200;

/** Many clients give up on a call after a minute without progress, and a suite may take longer. */
const SIGN_OF_LIFE_MS = 2000;

/** The reported progress must grow each time: a sign of life adds this part of the rest up to the next test. */
const STEP = 0.01;

/** Reports progress to a client that has sent a progress token, until it is disposed. */
export const reportProgress = (
  progressToken: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): { readonly report: (progress: TestProgress) => void } & Disposable => {
  let latest: TestProgress = { done: 0, total: undefined };
  let reported = 0;
  const notify = (progress: number): void => {
    if (progressToken === undefined || progress <= reported) return;
    reported = progress;
    const { total, last } = latest;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(last === undefined
        ? {}
        : { message: shorten(`${last.passed ? "passed" : "failed"}: ${last.path}`, MAX_MESSAGE_LENGTH) }),
    };
    // The client may be gone.
    send({ method: "notifications/progress", params }).catch(() => {});
  };
  const signs = setInterval(() => notify(reported + (latest.done + 1 - reported) * STEP), SIGN_OF_LIFE_MS);
  return {
    report: (progress) => {
      latest = progress;
      notify(progress.done);
    },
    [Symbol.dispose]: () => clearInterval(signs),
  };
};

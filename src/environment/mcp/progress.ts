import type { ProgressToken, ServerNotification } from "@modelcontextprotocol/sdk/types.js";
import { shorten } from "../../tools/shorten.ts";
import type { TestProgress } from "../contract.ts";

const MAX_MESSAGE_LENGTH = 200;

/** Clients give up on a call of which they hear nothing, many of them after a minute: a suite may take longer. */
const SIGN_OF_LIFE_MS = 2000;

/** What is told has to grow each time: a sign of life is this part of what is missing to the next test. */
const STEP = 0.01;

/** Tells a client how far its tests have come, if it has asked for that with a token, until it is disposed. */
export const tellProgress = (
  progressToken: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): { readonly tell: (progress: TestProgress) => void } & Disposable => {
  let latest: TestProgress = { done: 0, total: undefined };
  let told = 0;
  const notify = (progress: number): void => {
    if (progressToken === undefined || progress <= told) return;
    told = progress;
    const { total, last } = latest;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(last === undefined
        ? {}
        : { message: shorten(`${last.passed ? "passed" : "failed"}: ${last.path}`, MAX_MESSAGE_LENGTH) }),
    };
    // A client that is gone has no use for it.
    send({ method: "notifications/progress", params }).catch(() => {});
  };
  const signs = setInterval(() => notify(told + (latest.done + 1 - told) * STEP), SIGN_OF_LIFE_MS);
  return {
    tell: (progress) => {
      latest = progress;
      notify(progress.done);
    },
    [Symbol.dispose]: () => clearInterval(signs),
  };
};

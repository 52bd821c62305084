import type { ModalClient, ModalClientParams } from "modal";
import { onAbort } from "../../tools/wait/onAbort.ts";

type Middleware = NonNullable<ModalClientParams["grpcMiddleware"]>[number];

/** A client of Modal that can be closed. */
export interface ModalConnection {
  readonly client: ModalClient;
  /** Cancels every pending call: the SDK waits without a limit, which would keep the process alive. */
  close(): void;
}

/** Cancels calls when the signal is aborted, in addition to their own signals. */
const endingWith = (ended: AbortSignal): Middleware =>
  async function* (call, options) {
    const controller = new AbortController();
    const cancel = () => controller.abort();
    const stops = [ended, options.signal].map((signal) => onAbort(signal, cancel));
    try {
      return yield* call.next(call.request, { ...options, signal: controller.signal });
    } finally {
      for (const stop of stops) stop();
    }
  };

/** Makes a client whose calls can be ended. Nothing is sent yet. */
export const openConnection = (
  Client: new (params: ModalClientParams) => ModalClient,
  params: ModalClientParams,
): ModalConnection => {
  const ended = new AbortController();
  const client = new Client({ ...params, grpcMiddleware: [endingWith(ended.signal)] });
  return {
    client,
    close: () => {
      ended.abort();
      client.close();
    },
  };
};

import type { CallContext, Handler } from "./modalDefinitions.ts";

/** Codes of gRPC. */
export const STATUS = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export type Status = (typeof STATUS)[keyof typeof STATUS];

/** How unkind the server is. */
export interface ModalFaults {
  /** The next calls of a method fail, before anything is done. */
  fail(method: string, status: Status, times?: number, details?: string): void;
  /** The next calls of a method are done, but their answers get lost. */
  loseAnswers(method: string, times?: number): void;
  /** Every stream of output breaks after that many bytes. */
  breakStreamsAfter(bytes: number): void;
  /** From now on these methods are not answered; none is, when none is named. */
  freeze(...methods: readonly string[]): void;
  /** What comes from now on is answered again. */
  thaw(): void;
  /** How much output of commands was sent. */
  bytesSent(): number;
  /** Called when a method is called, before anything is done. */
  onCall(method: string, then: () => void): void;
}

interface Fault {
  readonly when: "before" | "after";
  readonly status: Status;
  readonly details?: string;
  times: number;
}

/** Keeps the faults that were asked for, and wraps handlers so that they have them. */
export const modalFaults = (fail: (status: Status, details: string) => Error) => {
  const faults = new Map<string, Fault>();
  let streamBytes = Number.POSITIVE_INFINITY;
  const listeners = new Map<string, () => void>();
  let isFrozen = (_method: string) => false;
  let sent = 0;
  const frozen = async (method: string) => {
    if (isFrozen(method)) await new Promise(() => {});
  };
  const begin = async (method: string) => {
    listeners.get(method)?.();
    await frozen(method);
    meet(method, "before");
  };
  const meet = (method: string, when: Fault["when"]) => {
    const fault = faults.get(method);
    if (fault === undefined || fault.when !== when || fault.times === 0) return;
    fault.times--;
    throw fail(fault.status, fault.details ?? `${method}: not this time`);
  };
  const control: ModalFaults = {
    fail: (method, status, times = 1, details) =>
      faults.set(method, { when: "before", status, times, ...(details !== undefined && { details }) }),
    loseAnswers: (method, times = 1) =>
      faults.set(method, { when: "after", status: STATUS.UNAVAILABLE, times }),
    breakStreamsAfter: (bytes) => {
      streamBytes = bytes;
    },
    freeze: (...methods) => {
      isFrozen = (method) => methods.length === 0 || methods.includes(method);
    },
    thaw: () => {
      isFrozen = () => false;
    },
    bytesSent: () => sent,
    onCall: (method, then) => listeners.set(method, then),
  };
  const unary =
    (method: string, handler: Handler): Handler =>
    async (request, context) => {
      await begin(method);
      const answer = await handler(request, context);
      await frozen(method);
      meet(method, "after");
      return answer;
    };
  const streaming = (method: string, handler: Handler): Handler =>
    async function* (request: never, context: CallContext) {
      await begin(method);
      let left = streamBytes;
      for await (const message of handler(request, context) as AsyncIterable<{ data: Buffer }>) {
        await frozen(method);
        const data = message.data.subarray(0, left);
        yield { data };
        sent += data.length;
        left -= data.length;
        if (left <= 0) throw fail(STATUS.UNAVAILABLE, `${method}: the stream broke`);
      }
    };
  return { control, unary, streaming };
};

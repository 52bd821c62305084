/** A message of the Model Context Protocol. Other programs send it: only the outer shape is checked. */
export interface Message {
  readonly jsonrpc?: "2.0";
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code?: number; readonly message?: string };
}

/** How messages reach a server. */
export interface Transport {
  send(message: Message, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface TransportEvents {
  onMessage(message: Message): void;
  /** The server is gone. */
  onEnd(reason: Error): void;
}

/** How long a server may take to end before it is asked in another way. */
export const GRACE_MS = 1000;

/** The messages in a text; none if the text is not JSON. */
export const messagesIn = (text: string): readonly Message[] => {
  try {
    return [JSON.parse(text)].flat().filter((each) => typeof each === "object" && each !== null);
  } catch {
    return [];
  }
};

/** Whether the promise settles in time. */
export const settlesWithin = (promise: Promise<unknown>, milliseconds: number): Promise<boolean> => {
  let timer: NodeJS.Timeout;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
};

import type { IsolatedSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import type { Loopback } from "./loopback.ts";
import { useE2bServer, useVercelServer } from "./useServers.ts";

/** What a test can do to a service, whichever it is. */
export interface Cloud {
  readonly loopback: Loopback;
  /** How many sandboxes there are. */
  count(): number;
  /** What the last sandbox was asked for with. */
  lastCreated(): unknown;
  /** All that the service was told about the only sandbox, and about what is to be run in it. */
  told(): string;
  /** When the only sandbox ends by itself. */
  endsAt(): number;
  /** How long a sandbox may last altogether from now on: what a plan allows. */
  allow(longestMs: number): void;
  /** Ends the only sandbox, machine and all. */
  lose(): Promise<void>;
  /** Says that the only sandbox is gone; nothing else happens to it. */
  forget(): void;
}

export interface CloudService {
  readonly name: "e2b" | "vercel";
  provider(options?: {
    readonly lifetimeMs?: number;
    readonly leaseMs?: number;
    readonly requestTimeoutMs?: number;
  }): IsolatedSandboxProvider;
  /** Starts the service for the tests of a `describe`. */
  use(): () => Cloud;
  /** Requests, as the log of the service has them. */
  readonly requests: {
    readonly create: RegExp;
    readonly start: RegExp;
    readonly read: RegExp;
    readonly write: RegExp;
    readonly extend: RegExp;
    readonly end: RegExp;
  };
}

export const e2bService: CloudService = {
  name: "e2b",
  provider: e2b,
  use: () => {
    const server = useE2bServer();
    return () => {
      const { current } = server;
      return {
        loopback: current.loopback,
        count: () => current.sandboxes.size,
        lastCreated: () => current.created.at(-1),
        told: () => JSON.stringify([current.sandbox.request, current.sandbox.started]),
        endsAt: () => current.sandbox.endsAt,
        allow: (longestMs) => {
          current.longestMs = longestMs;
          current.graceMs = longestMs === Number.POSITIVE_INFINITY ? 0 : 60_000;
        },
        lose: () => current.lose(current.sandbox),
        forget: () => current.forget(current.sandbox),
      };
    };
  },
  requests: {
    create: /^POST \/v2\/sandboxes$/,
    start: /^POST \/process.Process\/Start$/,
    read: /^POST \/process.Process\/Connect$/,
    write: /^POST \/files$/,
    extend: /^POST \/sandboxes\/\w+\/timeout$/,
    end: /^DELETE \/sandboxes\/\w+$/,
  },
};

export const vercelService: CloudService = {
  name: "vercel",
  provider: vercel,
  use: () => {
    const server = useVercelServer();
    return () => {
      const { current } = server;
      return {
        loopback: current.loopback,
        count: () => current.sandboxes.size,
        lastCreated: () => current.created.at(-1),
        told: () => {
          const { request, commands } = current.sandbox;
          return JSON.stringify([request, [...commands.values()].map((command) => command.request)]);
        },
        endsAt: () => current.sandbox.startedAt + current.sandbox.timeout,
        allow: (longestMs) => {
          current.longestMs = longestMs;
          current.graceMs = longestMs === Number.POSITIVE_INFINITY ? 0 : 60_000;
        },
        lose: () => current.lose(current.sandbox),
        forget: () => current.forget(current.sandbox),
      };
    };
  },
  requests: {
    create: /^POST \/api\/v3\/sandboxes$/,
    start: /^POST \/api\/v2\/sandboxes\/sessions\/[^/]+\/cmd$/,
    read: /^GET .*\/logs$/,
    write: /^POST .*\/fs\/write$/,
    extend: /^POST .*\/extend-timeout$/,
    end: /^DELETE \/api\/v2\/sandboxes\/[^/]+$/,
  },
};

export const CLOUDS: readonly CloudService[] = [e2bService, vercelService];

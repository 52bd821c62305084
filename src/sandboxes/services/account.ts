import { createHash } from "node:crypto";
import { SandboxError } from "../../errors.ts";
import { MINUTE_MS } from "../exec/sandboxTimes.ts";
import type { LeftSandbox, LeftSnapshot } from "../leftovers.ts";

/** Names an account of a service without its secrets: journals must not hold any. */
export type CloudAccount = Readonly<Record<string, string>>;

/** The place of a sandbox, by its journal. */
export interface CloudPlace {
  readonly account: CloudAccount;
  /** When the service has ended it at the latest; by `Date.now()`. */
  readonly endsByMs: number;
}

/** How long it may take until a sandbox starts: its image may have to be built first. */
const START_MS = 120 * MINUTE_MS;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Users may copy it to a shell, so it must hold nothing that a shell acts on. */
const NAME = /^[\w.:[\]-]{0,100}$/;

/** Tells keys apart without revealing them. */
export const fingerprintOf = (key: string): string =>
  createHash("sha256").update(key).digest("hex").slice(0, 12);

/** Writes the place of a sandbox that is about to be made, for `sanddune clean`. */
export const writeCloudPlace = (account: CloudAccount, lifetimeMs: number): string =>
  JSON.stringify({ ...account, endsBy: new Date(Date.now() + START_MS + lifetimeMs).toISOString() });

const parsePlace = (text: string, names: readonly string[]): CloudPlace | undefined => {
  try {
    const said = JSON.parse(text) as Record<string, unknown>;
    const read = (name: string, pattern: RegExp): string => {
      const value = said[name];
      if (typeof value !== "string" || !pattern.test(value)) throw new Error(name);
      return value;
    };
    const account = Object.fromEntries(names.map((name) => [name, read(name, NAME)]));
    const endsByMs = Date.parse(read("endsBy", TIME));
    return Number.isNaN(endsByMs) ? undefined : { account, endsByMs };
  } catch {
    return undefined;
  }
};

/** Reads the place of a sandbox, or of the one that a snapshot is of. `undefined` if the journal has none, as older ones; throws if it is malformed. */
export const readCloudPlace = (
  provider: string,
  left: LeftSandbox | LeftSnapshot,
  names: readonly string[],
): CloudPlace | undefined => {
  const { place } = left;
  if (place === undefined) return undefined;
  const known = parsePlace(place, names);
  if (known !== undefined) return known;
  const what = "name" in left ? `the snapshot ${left.name}` : `the sandbox ${left.sandboxName}`;
  throw new SandboxError(provider, `its journal does not name the account of ${what}`);
};

/** Whether a sandbox may exist although the present account does not list it. */
const isElsewhere = ({ account, endsByMs }: CloudPlace, present: CloudAccount): boolean =>
  Date.now() < endsByMs && Object.entries(account).some(([name, value]) => present[name] !== value);

/**
 * Looks for a sandbox with the present credentials, which may be new ones of the same account. If they do not find it and may
 * be of another account, the sandbox may still exist: rejects with the error of `explain`.
 */
export const lookInAccount = async <Found>(
  place: CloudPlace | undefined,
  present: CloudAccount,
  look: () => Promise<Found | undefined>,
  explain: (place: CloudPlace) => SandboxError,
): Promise<Found | undefined> => {
  if (place === undefined || !isElsewhere(place, present)) return look();
  const found = await look().catch(() => undefined);
  if (found === undefined) throw explain(place);
  return found;
};

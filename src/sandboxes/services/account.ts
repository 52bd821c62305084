import { createHash } from "node:crypto";
import { SandboxError } from "../../errors.ts";
import { MINUTE_MS } from "../exec/sandboxTimes.ts";
import type { LeftSandbox } from "../leftovers.ts";

/** Names an account of a service by what is no secret: a journal is no place for those. */
export type CloudAccount = Readonly<Record<string, string>>;

/** Where a sandbox was made, as its journal says. */
export interface CloudPlace {
  readonly account: CloudAccount;
  /** When the service has ended it, whatever happened; by `Date.now()`. */
  readonly endsByMs: number;
}

/** How long it may take until a sandbox begins to live: its image may have to be built first. */
const START_MS = 120 * MINUTE_MS;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Also shown to people, who may copy it to a shell: nothing that acts there. */
const NAME = /^[\w.:[\]-]{0,100}$/;

/** Tells keys apart without telling them. */
export const fingerprintOf = (key: string): string =>
  createHash("sha256").update(key).digest("hex").slice(0, 12);

/** What `sanddune clean` is told about a sandbox that is about to be made. */
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

/** Reads that again. `undefined` if the journal is from before there was such a thing; throws if it says something else. */
export const readCloudPlace = (
  provider: string,
  { sandboxName, place }: LeftSandbox,
  names: readonly string[],
): CloudPlace | undefined => {
  if (place === undefined) return undefined;
  const known = parsePlace(place, names);
  if (known !== undefined) return known;
  throw new SandboxError(provider, `its journal does not say in which account the sandbox ${sandboxName} is`);
};

/** Whether a sandbox may be there although the present account does not have it. */
const isElsewhere = ({ account, endsByMs }: CloudPlace, present: CloudAccount): boolean =>
  Date.now() < endsByMs && Object.entries(account).some(([name, value]) => present[name] !== value);

/**
 * Looks for a sandbox with the credentials that there are: they may be new ones of the account in which it was made. If they
 * do not find it, and may be another account's, nobody knows whether it is there: rejects with what `explain` says.
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

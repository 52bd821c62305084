import { SandboxUnavailableError } from "../../errors.ts";
import type { NetworkPolicy, SandboxCapabilities } from "../contract.ts";
import { NO_ROOT, WITHOUT_ROOT } from "./noRoot.ts";

const POLICIES: readonly NetworkPolicy[] = ["none", "on-off", "domains"];

type Capability = keyof SandboxCapabilities;

const has: {
  readonly [Key in Capability]: (can: SandboxCapabilities[Key], need: SandboxCapabilities[Key]) => boolean;
} = {
  sudo: (can) => can !== false,
  terminal: (can) => can !== false,
  liveInput: (can) => can !== false,
  extension: (can) => can !== false,
  networkPolicy: (can = "domains", need = "none") => POLICIES.indexOf(can) >= POLICIES.indexOf(need),
};

/** The error about a missing capability, and the hint. */
const MISSING: Readonly<Record<Capability, readonly [problem: string, hint: string]>> = {
  sudo: [NO_ROOT, WITHOUT_ROOT],
  terminal: [
    "it does not support a terminal",
    "Use docker(), podman(), bubblewrap() or kubernetes() for an interactive session",
  ],
  liveInput: [
    "it does not support input to a running command",
    "Provide all input before the command starts, or use another sandbox provider",
  ],
  extension: [
    "its lifetime cannot be extended while it is in use",
    "Give it a `lifetimeMs` that is long enough, or use another sandbox provider",
  ],
  networkPolicy: [
    "its network access cannot be restricted in that way",
    "Restrict it where the sandbox runs, or use another sandbox provider",
  ],
};

/** Checks that sandboxes of a provider have the needed capabilities; throws a `SandboxUnavailableError`. */
export const requireCapabilities = (
  { name, capabilities = {} }: { readonly name: string; readonly capabilities?: SandboxCapabilities },
  needs: SandboxCapabilities,
): void => {
  const isSupported = <Key extends Capability>(key: Key) =>
    needs[key] === undefined || needs[key] === false || has[key](capabilities[key], needs[key]);
  const missing = (Object.keys(has) as Capability[]).find((key) => !isSupported(key));
  if (missing !== undefined) throw new SandboxUnavailableError(name, ...MISSING[missing]);
};

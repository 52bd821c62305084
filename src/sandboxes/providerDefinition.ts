import {
  type Checks,
  callback,
  checkedOptions,
  flag,
  nested,
  oneOf,
  text,
} from "../options/checks/checks.ts";
import { env } from "../options/checks/envVars.ts";
import type {
  BindMountSandboxProviderDefinition,
  IsolatedSandboxProviderDefinition,
  SandboxCapabilities,
} from "./contract.ts";
import type { SandboxLeftovers } from "./leftovers.ts";

export const CAPABILITIES: Checks<SandboxCapabilities> = {
  sudo: flag,
  terminal: flag,
  liveInput: flag,
  extension: flag,
  networkPolicy: oneOf(["none", "on-off", "domains"]),
};

const LEFTOVERS: Checks<SandboxLeftovers> = {
  holdsWork: (value) => (typeof value === "function" ? undefined : flag(value)),
  find: callback,
  findUnlisted: callback,
  reopen: callback,
  remove: callback,
  findSnapshot: callback,
  whySnapshotStays: callback,
  removeSnapshot: callback,
};

type Definition = BindMountSandboxProviderDefinition | IsolatedSandboxProviderDefinition;

const DEFINITION: Checks<
  Definition & Pick<BindMountSandboxProviderDefinition, "overlayProblem" | "stacksLayers">
> = {
  name: text,
  env,
  capabilities: nested("capabilities", CAPABILITIES),
  preflight: callback,
  overlayProblem: callback,
  removeSnapshot: callback,
  snapshotBase: callback,
  snapshotPlace: callback,
  stacksLayers: flag,
  leftovers: nested("leftovers", LEFTOVERS, ["holdsWork", "find", "remove"]),
  create: callback,
};

/** A sandbox provider of a definition. One that is made of another provider has the type of that already. */
export const checkedDefinition = <Given extends Definition, Type extends string>(
  definition: Given,
  type: Type,
): Given & { readonly type: Type } => ({
  ...(checkedOptions<Definition & { readonly type?: string }>(
    definition,
    { ...DEFINITION, type: oneOf([type]) },
    ["name", "create"],
  ) as Given),
  type,
});

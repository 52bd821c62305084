import { type Checks, callback, checkedOptions, flag, nested, oneOf, text } from "../options/checks.ts";
import { env } from "../options/envChecks.ts";
import type {
  BindMountSandboxProviderDefinition,
  IsolatedSandboxProviderDefinition,
  SandboxCapabilities,
} from "./contract.ts";

export const CAPABILITIES: Checks<SandboxCapabilities> = {
  sudo: flag,
  terminal: flag,
  liveInput: flag,
  extension: flag,
  networkPolicy: oneOf(["none", "on-off", "domains"]),
};

type Definition = BindMountSandboxProviderDefinition | IsolatedSandboxProviderDefinition;

const DEFINITION: Checks<Definition> = {
  name: text,
  env,
  capabilities: nested("capabilities", CAPABILITIES),
  preflight: callback,
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

import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { bindMountSandbox } from "./bindMountSandbox.ts";
import { hostSandbox } from "./hostSandbox.ts";
import { isolatedSandbox } from "./isolatedSandbox.ts";
import type { ScenarioSandbox, ScenarioSandboxOptions } from "./scenarioSandbox.ts";

/** The sandbox of one execution: the host itself, or a sandbox of the provider. */
export const chooseSandbox = (
  provider: SandboxProvider | "none",
  settings: ScenarioSandboxOptions,
): ScenarioSandbox => {
  if (provider === "none") return hostSandbox(settings);
  return provider.type === "bind-mount"
    ? bindMountSandbox(provider, settings)
    : isolatedSandbox(provider, settings);
};

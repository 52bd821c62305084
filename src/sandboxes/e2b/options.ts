import { type Checks, checkedOptions, text } from "../../options/checks/checks.ts";
import {
  LEASED_SERVICE_CHECKS,
  type LeasedServiceOptions,
  type LeasedServiceSettings,
  leasedServiceSettings,
} from "../services/serviceOptions.ts";

/** The options of `e2b()`. */
export interface E2bOptions extends LeasedServiceOptions {
  /** The name or id of a template, which also says how many CPUs and how much memory there are; `base` when it is left out. */
  readonly template?: string;
}

/** The options, checked and complete. */
export interface E2bSettings extends LeasedServiceSettings {
  readonly template: string;
}

const OPTIONS: Checks<E2bOptions> = { template: text, ...LEASED_SERVICE_CHECKS };

/** Checks the options of `e2b()`; throws an `InvalidOptionsError` that names the wrong one. */
export const e2bSettings = (options: E2bOptions): E2bSettings => {
  const { template = "base", ...others } = checkedOptions(options, OPTIONS);
  return { template, ...leasedServiceSettings(others) };
};

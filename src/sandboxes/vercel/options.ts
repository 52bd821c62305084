import { type Checks, checkedOptions, count, text } from "../../options/checks/checks.ts";
import {
  LEASED_SERVICE_CHECKS,
  type LeasedServiceOptions,
  type LeasedServiceSettings,
  leasedServiceSettings,
} from "../services/serviceOptions.ts";

/** The options of `vercel()`. */
export interface VercelOptions extends LeasedServiceOptions {
  /** An image from Vercel, or one of your own in its registry; `vercel/sandbox/universal` when it is left out. */
  readonly imageName?: string;
  /** Virtual CPUs, with 2 GiB of memory each; Vercel's default when it is left out. */
  readonly vcpus?: number;
}

/** The options, checked and complete. */
export interface VercelSettings extends LeasedServiceSettings {
  readonly imageName?: string;
  readonly vcpus?: number;
}

const OPTIONS: Checks<VercelOptions> = { imageName: text, vcpus: count, ...LEASED_SERVICE_CHECKS };

/** Checks the options of `vercel()`; throws an `InvalidOptionsError` that names the wrong one. */
export const vercelSettings = (options: VercelOptions): VercelSettings => {
  const { imageName, vcpus, ...others } = checkedOptions(options, OPTIONS);
  return { imageName, vcpus, ...leasedServiceSettings(others) };
};

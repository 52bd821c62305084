import { realpathSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import type { CheckoutSession } from "./checkoutSession.ts";

/** The directory where hooks and agents start on the host: the equivalent of `cwd` in the checkout. */
export const hostDirectory = ({ path, repository }: CheckoutSession): string => join(path, repository.prefix);

/** Throws if the directory is not, or no longer, in the checkout: an agent may have replaced it by a link. */
export const checkHostDirectory = (checkout: CheckoutSession): void => {
  const { prefix } = checkout.repository;
  const isThere = () =>
    join(realpathSync(hostDirectory(checkout)), "/") === join(realpathSync(checkout.path), prefix, "/");
  try {
    if (isThere()) return;
  } catch {}
  throw new InvalidOptionsError("cwd", `the branch has no directory ${prefix} to start in`);
};

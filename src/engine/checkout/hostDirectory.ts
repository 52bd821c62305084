import { realpathSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import type { CheckoutSession } from "./checkoutSession.ts";

/** Where hooks and agents start on the host: in the checkout, as far down as `cwd` is in the user's. */
export const hostDirectory = ({ path, repository }: CheckoutSession): string => join(path, repository.prefix);

/** Throws if the directory is not in the checkout (any more): an agent may have put a link in its place. */
export const checkHostDirectory = (checkout: CheckoutSession): void => {
  const { prefix } = checkout.repository;
  const isThere = () =>
    join(realpathSync(hostDirectory(checkout)), "/") === join(realpathSync(checkout.path), prefix, "/");
  try {
    if (isThere()) return;
  } catch {}
  throw new InvalidOptionsError("cwd", `the branch has no directory ${prefix}, to begin in`);
};

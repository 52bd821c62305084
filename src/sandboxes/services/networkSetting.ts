import { InvalidOptionsError } from "../../errors.ts";

/** The network of a service's sandboxes, by the flag `--network`. */
export const cloudNetworkOf = (
  provider: string,
  networks: readonly string[] | undefined,
): "none" | undefined => {
  if (networks === undefined) return undefined;
  if (networks.length === 1 && networks[0] === "none") return "none";
  throw new InvalidOptionsError(
    "network",
    `${provider} supports only "none". To allow single domains, set the option of ${provider}() in a program`,
  );
};

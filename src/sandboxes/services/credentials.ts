import { inspect } from "node:util";
import { SandboxUnavailableError } from "../../errors.ts";

/** What can stand in a header: the SDKs put what cannot into their complaints. */
const IN_HEADER = /^[\x21-\x7e]*$/;

/** Refuses a credential that cannot be one, by its name and without its value. */
export const checkCredential = (
  provider: string,
  name: string,
  value: string | undefined,
  hint: string,
): void => {
  if (value === undefined || IN_HEADER.test(value)) return;
  throw new SandboxUnavailableError(
    provider,
    `${name} holds a character that no key has, such as a line end or a space`,
    hint,
  );
};

/** What a service said, should it have repeated what it was told in confidence. */
export const withoutSecrets = (text: string, secrets: readonly (string | undefined)[]): string =>
  secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, "***") : rest), text);

/** The same for what is kept as a cause, which others may print. */
export const discreetCause = (error: unknown, secrets: readonly (string | undefined)[]): unknown => {
  const told = inspect(error);
  return withoutSecrets(told, secrets) === told ? error : new Error(withoutSecrets(String(error), secrets));
};

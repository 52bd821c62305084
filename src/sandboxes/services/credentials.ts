import { inspect } from "node:util";
import { SandboxUnavailableError } from "../../errors.ts";

/** The characters of a header. The SDKs quote other values in their error messages. */
const IN_HEADER = /^[\x21-\x7e]*$/;

/** Refuses a malformed credential, by its name and without its value. */
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

/** Removes secrets from a service's message, which may repeat them. */
export const withoutSecrets = (text: string, secrets: readonly (string | undefined)[]): string =>
  secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, "***") : rest), text);

/** The same for the `cause` of an error, which callers may print. */
export const discreetCause = (error: unknown, secrets: readonly (string | undefined)[]): unknown => {
  const told = inspect(error);
  return withoutSecrets(told, secrets) === told ? error : new Error(withoutSecrets(String(error), secrets));
};

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TestRequestError } from "../../errors.ts";

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/i;

/**
 * Refuses requests of web pages. A browser on this machine can reach loopback and sends requests for any page. It sets `Origin`;
 * a page whose host name resolves to loopback shows in `Host`.
 */
export const refuseWebPages = ({ headers: { host, origin } }: IncomingMessage): void => {
  if (origin !== undefined) throw new TestRequestError("This server is not for web pages.", 403);
  if (host === undefined || !LOOPBACK.test(host))
    throw new TestRequestError("This server is for this machine only: use http://127.0.0.1.", 403);
};

/** Makes values of the same length, which a comparison in constant time needs. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Refuses a request without the token, if the server has one. */
export const requireToken = (request: IncomingMessage, token: string | undefined): void => {
  if (token === undefined) return;
  const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new TestRequestError(
      "The token is missing or wrong. Send the value of SANDDUNE_ENVIRONMENT_TOKEN as Authorization: Bearer …",
      401,
    );
};

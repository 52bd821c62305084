import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TestRequestError } from "../../errors.ts";

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/i;

/**
 * Refuses web pages. A browser on this machine reaches loopback, too, and sends what any page asks it to: it says so in
 * `Origin`, or, if the page has made its own name point here, in `Host`.
 */
export const refuseWebPages = ({ headers: { host, origin } }: IncomingMessage): void => {
  if (origin !== undefined) throw new TestRequestError("This server is not for web pages.", 403);
  if (host === undefined || !LOOPBACK.test(host))
    throw new TestRequestError("This server is for this machine only: call it 127.0.0.1.", 403);
};

/** Of the same length, whatever was sent. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Refuses who does not have the token, if there is one. */
export const requireToken = (request: IncomingMessage, token: string | undefined): void => {
  if (token === undefined) return;
  const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new TestRequestError(
      "The token is missing or wrong. Send it as Authorization: Bearer …, as SANDDUNE_ENVIRONMENT_TOKEN has it.",
      401,
    );
};

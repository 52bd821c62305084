// The contestants of a session, side by side.
import { ownSession } from "./own.mjs";
import { peerSession } from "./peer.mjs";
import { rawSession } from "./raw.mjs";

/** The peer takes part where it is installed, and where it has such a sandbox. */
export const takesPart = (peer, kind) => peer.problem === undefined && kind === "docker";

/** For each contestant, a function that performs one session. */
export const sessionsOf = (peer, kind) => ({
  raw: rawSession,
  ...(takesPart(peer, kind) && { peer: (session) => peerSession(peer, session) }),
  own: ownSession,
});

/** The same, as contestants that take turns. `sessionFor` gets the round. */
export const contestantsOf = (peer, kind, contestantFor) =>
  Object.fromEntries(
    Object.entries(sessionsOf(peer, kind)).map(([name, session]) => [
      name,
      { optional: name === "peer", ...contestantFor(session, name) },
    ]),
  );

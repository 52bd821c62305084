// One session of one contestant, in a process of its own, so that its processes can be counted.
import { ownSession } from "../contestants/own.mjs";
import { loadPeer, peerSession } from "../contestants/peer.mjs";
import { rawSession } from "../contestants/raw.mjs";

const { side, peer, ...session } = JSON.parse(process.argv[2]);
const sessions = {
  raw: rawSession,
  own: ownSession,
  peer: async (options) => peerSession(await loadPeer(peer.folder, peer.image), options),
};
await sessions[side](session);

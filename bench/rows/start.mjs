// The start of a Node process that imports the main entry, and of the command line.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "../machine/command.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { atMostAdded, timeRow } from "../report/row.mjs";

const ROUNDS = 20;
const MAX_IMPORT_MS = 45;
const MAX_HELP_MS = 80;

const fileOf = (name) => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));

const start = (...args) => ({ perform: () => command(process.execPath, ...args) });
const importing = (path) => start("--input-type=module", "--eval", `import ${JSON.stringify(path)}`);

const measure = async ({ peer, rounds }) => {
  const peerFile = (name) => join(peer.folder, "dist", name);
  const hasPeer = peer.problem === undefined;
  const contest = (own, peerSide) =>
    takeTurns({ raw: start("--input-type=module", "--eval", ""), peer: peerSide, own }, rounds(ROUNDS));
  const imports = await contest(
    importing(fileOf("index.js")),
    hasPeer ? { ...importing(peerFile("index.js")), optional: true } : undefined,
  );
  const helps = await contest(
    start(fileOf("cli.js"), "--help"),
    hasPeer ? { ...start(peerFile("main.js"), "--help"), optional: true } : undefined,
  );
  const against = "empty Node";
  return {
    rows: [
      timeRow({
        ...{ id: "import/entry", name: "importing sanddune", samples: imports, against },
        target: atMostAdded(MAX_IMPORT_MS),
      }),
      timeRow({
        ...{ id: "import/help", name: "`sanddune --help`", samples: helps, against },
        target: atMostAdded(MAX_HELP_MS),
      }),
    ],
  };
};

export const startBenchmark = { name: "import", problem: () => undefined, measure };

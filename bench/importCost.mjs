// What importing the main entry adds to the start of a Node process.
import { command } from "./command.mjs";
import { median, takeTurns } from "./measure.mjs";

const ROUNDS = 20;
const MAX_MS = 120;

const entry = new URL("../dist/index.js", import.meta.url);

const measure = async () => {
  const start = (script) => ({ perform: () => command(process.execPath, "-e", script) });
  const samples = await takeTurns({ raw: start(""), own: start(`import(${JSON.stringify(entry)})`) }, ROUNDS);
  const [rawMs, ownMs] = [median(samples.raw), median(samples.own)];
  return {
    rows: [
      {
        name: "importing sanddune",
        raw: `${Math.round(rawMs)} ms`,
        own: `${Math.round(ownMs)} ms`,
        figure: `+${Math.round(ownMs - rawMs)} ms`,
        target: `below +${MAX_MS} ms`,
        isMet: ownMs - rawMs < MAX_MS,
        samples,
      },
    ],
  };
};

export const importBenchmark = { name: "import", problem: () => undefined, measure };

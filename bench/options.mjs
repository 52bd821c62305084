// The command line of the bench.
import { parseArgs } from "node:util";

export const USAGE = `npm run bench -- [ROW...] [--rounds N] [--no-peer] [--check | --update]

  ROW         a benchmark, or the beginning of several names up to a dash: docker-20000, or docker
  --rounds N  samples of each contestant, instead of each benchmark's own number
  --no-peer   leave out the peer, which is installed from npm otherwise
  --check     compare with bench/ratios.json; exit with 1 if a row is more than 25 % worse, or none
              can be compared; write nothing
  --update    write the measured rows into bench/ratios.json, as a complete run does`;

const OPTIONS = {
  rounds: { type: "string" },
  "no-peer": { type: "boolean", default: false },
  check: { type: "boolean", default: false },
  update: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
};

const isPositiveInteger = (text) => /^[1-9]\d*$/.test(text);

/** Throws an `Error` with a sentence for the user if the arguments are wrong. */
export const parseOptions = (args) => {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.rounds !== undefined && !isPositiveInteger(values.rounds)) {
    throw new Error(`--rounds must be a positive whole number, not ${values.rounds}.`);
  }
  if (values.check && values.update) throw new Error("--check writes nothing: leave out --update.");
  return {
    wanted: positionals,
    rounds: values.rounds === undefined ? undefined : Number(values.rounds),
    hasPeer: !values["no-peer"],
    isCheck: values.check,
    isUpdate: values.update,
    isHelp: values.help,
  };
};

const isNamed = (name, wanted) => name === wanted || name.startsWith(`${wanted}-`);

/** The names that were asked for; all of them if none was. */
export const selectNames = (names, wanted) => {
  const unknown = wanted.filter((one) => !names.some((name) => isNamed(name, one)));
  if (unknown.length > 0) {
    throw new Error(`There is no benchmark ${unknown.join(", ")}: expected one of ${names.join(", ")}`);
  }
  return names.filter((name) => wanted.length === 0 || wanted.some((one) => isNamed(name, one)));
};

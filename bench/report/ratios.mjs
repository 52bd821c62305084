// The ratios that are committed, and whether new ones are worse. Milliseconds are not among them, because machines differ.

/** The share by which a ratio may be worse than the committed one. */
export const TOLERANCE = 0.25;

const rounded = (ratio) => Number(ratio.toPrecision(3));

/** The committed ratios, with the measured ones put in. */
export const updatedRatios = (committed, rows) => {
  const measured = Object.fromEntries(rows.map(({ id, ratio }) => [id, rounded(ratio)]));
  const all = { ...committed, ...measured };
  return Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
};

const isWorse = (committed, { ratio, noise = 0 }) =>
  ratio > committed * (1 + TOLERANCE) && ratio - committed > noise;

/**
 * Compares measured rows with committed ratios. A higher ratio is a worse one. `benchmarks` are those that were asked for, and
 * their `problem` where this machine cannot run them.
 */
export const compareRatios = ({ committed, rows, benchmarks }) => {
  const isAsked = (id) => benchmarks.some(({ name }) => id.startsWith(`${name}/`));
  const problemOf = (id) =>
    benchmarks.find(({ name }) => id.startsWith(`${name}/`))?.problem ?? "nothing measures it any more";
  const measured = new Map(rows.map((row) => [row.id, row]));
  const comparable = rows.filter(({ id }) => id in committed);
  return {
    compared: comparable.length,
    worse: comparable
      .filter((row) => isWorse(committed[row.id], row))
      .map(({ id, ratio }) => ({ id, committed: committed[id], measured: rounded(ratio) })),
    notCompared: [
      ...Object.keys(committed)
        .filter((id) => isAsked(id) && !measured.has(id))
        .map((id) => ({ id, reason: problemOf(id) })),
      ...rows
        .filter(({ id }) => !(id in committed))
        .map(({ id }) => ({ id, reason: "no ratio is committed for it" })),
    ],
  };
};

/** Of two measurements of the same rows, the better one of each: a busy moment must not decide. */
export const betterOf = (rows, again) =>
  rows.map((row) => {
    const other = again.find(({ id }) => id === row.id);
    return other !== undefined && other.ratio < row.ratio ? other : row;
  });

/** Without any comparison nothing is known to be as good as before. */
export const isPassed = ({ compared, worse }) => compared > 0 && worse.length === 0;

const verdictText = ({ compared, worse }) => {
  if (compared === 0) return "No row was compared.";
  return worse.length === 0
    ? `None of ${compared} rows is more than 25 % worse than its committed ratio.`
    : undefined;
};

export const comparisonText = ({ compared, worse, notCompared }) =>
  [
    ...notCompared.map(({ id, reason }) => `Not compared: ${id} (${reason})`),
    ...worse.map(
      ({ id, committed, measured }) =>
        `Worse: ${id} is ${measured}, and ${committed} is committed (${Math.round((measured / committed - 1) * 100)} % more)`,
    ),
    verdictText({ compared, worse }),
  ]
    .filter((line) => line !== undefined)
    .join("\n");

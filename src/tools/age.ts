const UNITS = [
  ["min", 60],
  ["h", 60],
  ["days", 24],
] as const;

/** How long ago a time was, for people: `12 s`, `5 min`, `3 h`, `2 days`. */
export const ageOf = (time: string, now = Date.now()): string => {
  let count = Math.max(0, now - Date.parse(time)) / 1000;
  let shown = "s";
  for (const [unit, size] of UNITS) {
    if (count < size * (unit === "days" ? 2 : 1)) break;
    count /= size;
    shown = unit;
  }
  return `${Math.floor(count)} ${shown}`;
};

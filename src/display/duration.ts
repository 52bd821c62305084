/** A duration for people: `0.4 s`, `12 s`, `3 min 5 s`, `1 h 2 min`. */
export const showDuration = (durationMs: number): string => {
  const seconds = durationMs / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

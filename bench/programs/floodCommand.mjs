// The agent that floods.

const LINE = "The quick brown fox jumps over the lazy dog, then does it all over again, without end.";

export const floodCommand = (megabytes, line = LINE) =>
  `yes '${line}' | head -c ${megabytes}000000; echo; echo flooded`;

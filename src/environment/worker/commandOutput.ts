import type { ProcessSpec } from "../../process/runProcess.ts";

/** For each stream of a command: enough for any comparison, and not too much for the memory. */
const WHOLE_BYTES = 16 * 1024 * 1024;

type Stream = "standard output" | "standard error";

/**
 * How much of a command's output is kept. A test must not get a truncated stream without knowing it, because its verdict could be
 * wrong: it gets everything, or the end that it has requested, or an error.
 */
export const outputLimits = (
  command: string,
  captureBytes: number | undefined,
): Pick<ProcessSpec, "captureBytes" | "onStdoutChunk" | "onStderrChunk"> => {
  if (captureBytes !== undefined) return { captureBytes };
  const limit = (stream: Stream) => {
    let bytes = 0;
    return (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > WHOLE_BYTES) throw new Error(tooMuch(command, stream));
    };
  };
  return {
    captureBytes: WHOLE_BYTES,
    onStdoutChunk: limit("standard output"),
    onStderrChunk: limit("standard error"),
  };
};

const MAX_COMMAND_CHARACTERS = 200;

const tooMuch = (command: string, stream: Stream): string =>
  `${JSON.stringify(command.slice(0, MAX_COMMAND_CHARACTERS))} printed more than ${WHOLE_BYTES} bytes to its ${stream}, and was killed. Pass \`captureBytes\` to run() if the end of its output is enough.`;

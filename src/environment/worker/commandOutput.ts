import type { ProcessSpec } from "../../process/runProcess.ts";

/** Of each stream of a command: more than a test compares with, less than what would hurt. */
const WHOLE_BYTES = 16 * 1024 * 1024;

type Stream = "standard output" | "standard error";

/**
 * How much of a command's output is kept. A test that was given the end of a stream without knowing it could fail a right
 * program and pass a wrong one: so it gets everything, or the end that it has asked for, or an error.
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
  `${JSON.stringify(command.slice(0, MAX_COMMAND_CHARACTERS))} printed more than ${WHOLE_BYTES} bytes to its ${stream}, and was killed. Pass \`captureBytes\` to run() if the end of what it prints is enough.`;

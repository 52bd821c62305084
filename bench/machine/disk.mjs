// Bytes on disk.
import { command } from "./command.mjs";

/** All that is allocated below a directory; files with several names count once. */
export const diskUsage = async (directory) =>
  Number(
    (await command("du", "--summarize", "--one-file-system", "--block-size=1", directory)).split("\t")[0],
  );

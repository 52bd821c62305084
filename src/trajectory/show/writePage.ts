import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ReplayPageError } from "../../errors/commandErrors.ts";
import { headOf } from "../../tools/files/outputPlace.ts";
import { replaceFile } from "../../tools/files/wholeFile.ts";
import type { Replay } from "../read/replay.ts";
import { TRAJECTORY_MARK, trajectoryPage } from "./html.ts";

/** Writes the page of a recorded run atomically. Replaces only such pages, and empty files. */
export const writePage = async (replay: Replay, file: string): Promise<void> => {
  const page = await trajectoryPage(replay);
  try {
    const head = (await headOf(file)) ?? "";
    if (head !== "" && !head.includes(TRAJECTORY_MARK)) {
      throw new Error("the file exists, and is not a page of sanddune replay");
    }
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, page);
  } catch (error) {
    throw new ReplayPageError(file, (error as Error).message, { cause: error });
  }
};

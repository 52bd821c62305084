import { removeImage } from "../../images/removeImage.ts";
import { print, printJson } from "../shared/output.ts";
import { type Engine, findImageName, type ImageFlags } from "./target.ts";

/** Removes the image, and says which. */
export const performRemove = async (engine: Engine, flags: ImageFlags): Promise<void> => {
  const imageName = await findImageName(engine, flags);
  await removeImage({ engine, imageName });
  if (flags.json) await printJson({ imageName });
  else await print(`Removed ${imageName}`);
};

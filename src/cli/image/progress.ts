import { shortenTo } from "../../display/columns.ts";
import { showDuration } from "../../display/duration.ts";
import { neutralise } from "../../display/neutralise.ts";
import { screenOf } from "../../display/screen.ts";
import { oneLine } from "../../tools/shorten.ts";
import { tell } from "../shared/output.ts";

/** A step can be a long script. */
const STEP_COLUMNS = 120;

export interface BuildProgress extends Disposable {
  onStep(step: string): void;
  onLine(line: string): void;
}

/** Shows the progress of a build: a status line at a terminal, otherwise a line for each step; with `verbose`, all output. */
export const showBuildProgress = (
  imageName: string,
  { verbose }: { readonly verbose: boolean },
): BuildProgress => {
  const screen = screenOf(process.stdout);
  const startedAt = performance.now();
  let current = "…";
  const status = {
    text: () =>
      neutralise(`Building ${imageName} · ${showDuration(performance.now() - startedAt)} · ${current}`),
  };
  screen.show(status);
  return {
    onStep: (step) => {
      current = step;
      if (!screen.isLive && !verbose) void tell(shortenTo(oneLine(step), STEP_COLUMNS));
    },
    onLine: (line) => {
      if (verbose) void tell(line);
    },
    [Symbol.dispose]: () => screen.hide(status),
  };
};

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

/** As in a process that has tried nothing yet. */
const freshOverlayProblem = async () => {
  vi.resetModules();
  return (await import("../../../src/process/overlay/overlayProblem.ts")).overlayProblem;
};

describeWith(["bubblewrap"], "whether overlays can be mounted", () => {
  it("is tried again if the directory of the trial was deleted meanwhile, also for those who waited", async () => {
    const overlayProblem = await freshOverlayProblem();
    const [mine, other] = [temporaryDirectory(), temporaryDirectory()];
    const disturbed = overlayProblem(mine);
    const waiting = overlayProblem(other);
    const trials = readdirSync(mine);
    expect(trials).toHaveLength(1);
    for (const name of trials) rmSync(join(mine, name), { recursive: true });
    expect(await disturbed).not.toBeUndefined();
    expect(await waiting).toBeUndefined();
    expect(await overlayProblem(mine)).toBeUndefined();
  });

  it("is tried once for each file system, and leaves nothing", async () => {
    const overlayProblem = await freshOverlayProblem();
    const [first, second] = [temporaryDirectory(), temporaryDirectory()];
    expect(await overlayProblem(first)).toBeUndefined();
    const asked = overlayProblem(second);
    expect(readdirSync(second)).toEqual([]);
    expect(await asked).toBeUndefined();
    expect(readdirSync(first)).toEqual([]);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stopRequestPath } from "../../../src/runs/journal/runDirectory.ts";
import { onStopRequest } from "../../../src/runs/journal/stopRequest.ts";
import { Journal } from "../../../src/runs/journal/writeJournal.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const journal = () => new Journal(join(temporaryDirectory(), "run"), (sentence) => sentence);

it.each([
  ["during the polling", false],
  ["before the polling", true],
])("a request %s calls back once", async (_, isEarly) => {
  const { runDirectory } = journal();
  const ask = () => writeFileSync(stopRequestPath(runDirectory), "");
  let calls = 0;
  if (isEarly) ask();
  const stopLooking = onStopRequest({ runDirectory } as Journal, () => {
    calls++;
  });
  if (!isEarly) ask();
  await waitFor(() => calls > 0);
  // Another change of the file is no other request.
  ask();
  const second = onStopRequest({ runDirectory } as Journal, () => {
    calls += 10;
  });
  await waitFor(() => calls > 10);
  expect(calls).toBe(11);
  stopLooking();
  second();
});

it("no callback is called after the polling has ended", async () => {
  const given = journal();
  let calls = 0;
  onStopRequest(given, () => {
    calls++;
  })();
  writeFileSync(stopRequestPath(given.runDirectory), "");
  let isSeen = false;
  const stopLooking = onStopRequest(given, () => {
    isSeen = true;
  });
  await waitFor(() => isSeen);
  stopLooking();
  expect(calls).toBe(0);
});

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findCursorSdk } from "../../../src/scenarios/agents/cursorSdk.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";

const PACKAGE = "node_modules/@cursor/sdk";

it("Cursor's SDK is found among the packages of the suite, and of the directories that it is in", () => {
  const workspace = temporaryDirectory();
  const suite = join(workspace, "packages/suite");
  mkdirSync(suite, { recursive: true });
  writeFiles(workspace, { [`${PACKAGE}/package.json`]: "{}" });
  expect(findCursorSdk(suite)).toBe(join(workspace, PACKAGE));
  writeFiles(suite, { [`${PACKAGE}/package.json`]: "{}" });
  expect(findCursorSdk(suite)).toBe(join(suite, PACKAGE));
});

import { knownGoTests } from "../known/goTests.ts";
import { goSource } from "../sources.ts";
import type { CommandPlaces, SuiteCommand } from "../suiteCommand.ts";
import { imageProgram } from "./findRunners.ts";

export const goTestCommand = (args: readonly string[], places: CommandPlaces): SuiteCommand => ({
  title: "go test",
  program: imageProgram("go", places.path, places),
  args: ["test", "-json", "-count=1", ...(args.length === 0 ? ["./..."] : args)],
  // A go.mod can ask for another version of Go, which would be fetched and run.
  env: { GOTOOLCHAIN: "local" },
  source: goSource(knownGoTests(places.cwd)),
  exitCodes: [0, 1, 2],
  remedy: "Is Go installed where the tests run, and is there a go.mod where the suite runs?",
});

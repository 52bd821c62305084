import { knownGoTests } from "../known/goTests.ts";
import { goSource } from "../sources.ts";
import type { CommandPlaces, SuiteCommand } from "../suiteCommand.ts";
import { imageProgram } from "./findRunners.ts";

export const goTestCommand = (args: readonly string[], places: CommandPlaces): SuiteCommand => ({
  title: "go test",
  program: imageProgram("go", places.path, places),
  args: ["test", "-json", "-count=1", ...(args.length === 0 ? ["./..."] : args)],
  // A go.mod can require another version of Go, which would be downloaded and run.
  env: { GOTOOLCHAIN: "local" },
  source: goSource(knownGoTests(places.cwd)),
  exitCodes: [0, 1, 2],
  remedy: "Check that Go is installed where the tests run, and that the suite's directory has a go.mod.",
});

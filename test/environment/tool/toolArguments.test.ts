import { expect, it } from "vitest";
import {
  parametersOf,
  portOf,
  readArguments,
  required,
  ToolUsageError,
} from "../../../src/environment/tool/toolArguments.ts";

const PLACE = ["--directory", "x", "--worktree", "y"];

it("a command line of tool.js has a command, flags and perhaps a path", () => {
  const { command, args } = readArguments(["run", ...PLACE, "--parameters", '{"n":1}', "--", "a/b"]);
  expect(command).toBe("run");
  expect(args).toMatchObject({ directory: "x", worktree: "y", path: "a/b" });
  expect(required(args, "directory")).toBe("x");
  expect(parametersOf(args)).toEqual({ n: 1 });
  expect(portOf(readArguments(["serve", ...PLACE, "--port", "0"]).args)).toBe(0);
});

it.each<[string[], string]>([
  [["run"], "--directory is missing."],
  [["run", ...PLACE, "a", "b"], "Pass at most one path."],
  [["run", ...PLACE, "--parameters", "{"], "--parameters must be JSON"],
  [["run", ...PLACE, "--parameters", '{"a":[1]}'], "--parameters: "],
  [["serve", ...PLACE, "--port", "70000"], "--port must be a whole number"],
  [["serve", "--nothing"], "Unknown option '--nothing'"],
  [["dance"], "Unknown command; expected one of: serve, run, setup, proxy, worker."],
])("tool.js understands not %j", (argv, message) => {
  const read = () => {
    const { args } = readArguments(argv);
    required(args, "directory");
    portOf(args);
    parametersOf(args);
  };
  expect(read).toThrow(ToolUsageError);
  expect(read).toThrow(message);
});

// Errors of the command line. No entry point throws them, so they are not part of the library.
export * from "./commands.ts";
export * from "./image.ts";
export * from "./init.ts";
export * from "./scenarioCommands.ts";
export * from "./trajectory.ts";

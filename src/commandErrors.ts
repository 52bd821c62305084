// What only commands can meet: a door never throws these, so they are not part of the library.
export * from "./errors/commands.ts";
export * from "./errors/image.ts";
export * from "./errors/init.ts";
export * from "./errors/scenarios.ts";
export * from "./errors/trajectory.ts";

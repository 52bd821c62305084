// What only commands can meet: a door never throws these, so they are not part of the library.
export * from "./commands.ts";
export * from "./image.ts";
export * from "./init.ts";
export * from "./scenarios.ts";
export * from "./trajectory.ts";

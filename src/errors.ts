// Every error that a caller can catch.
export * from "./errors/agent.ts";
export * from "./errors/base.ts";
export * from "./errors/environment.ts";
export * from "./errors/fleet.ts";
export * from "./errors/host.ts";
export * from "./errors/input.ts";
export * from "./errors/landing.ts";
export * from "./errors/recovery.ts";
export * from "./errors/sandbox.ts";
export * from "./errors/scenarios.ts";

import { RUN_VARIABLE } from "../../setup/run.ts";

/** In the names of images, networks and directories: what a killed run has left is known by it. */
export const RUN_ID = process.env[RUN_VARIABLE] ?? "test";

import { SandboxError } from "../../errors.ts";

/** The project that comes out of a sandbox is invalid, because of the agent or a command in it. */
export class ProjectRefusedError extends SandboxError {}

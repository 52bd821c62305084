import { SandboxError } from "../../errors.ts";

/** What a sandbox sends back as the project is none: whoever worked there has made it so. */
export class ProjectRefusedError extends SandboxError {}

import type { OwnedDirectory } from "../../sandboxes/directories/ownedDirectory.ts";
import type { Suite } from "../suite/suite.ts";

/** What the places of one execution have in common. */
export interface PlaceSettings {
  readonly suite: Suite;
  /** The project on the host. */
  readonly projectPath: string;
  /** Holds what the places need, and notes which sandboxes there are. */
  readonly runner: Pick<OwnedDirectory, "path" | "runId" | "noteSandbox">;
}

/** The project, as a sandbox sees it. */
export const PROJECT_IN_SANDBOX = "/sanddune/project";

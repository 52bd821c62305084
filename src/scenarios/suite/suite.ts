import type { ScenarioSuitePaths } from "../contract.ts";

/** Scenarios that belong together, with their paths and settings. */
export interface ScenarioSuite extends ScenarioSuitePaths {
  /** The version of the tested product, as read from `versionFile`, with a `v` before it. */
  readonly version?: string;
  /** The command line of the suite's tool, with placeholders. Paths in it are absolute. */
  readonly cliCommand?: readonly string[];
  /** The product that agents install, update and so on. */
  readonly productName?: string;
  /** The public address of the product's instructions. */
  readonly siteUrl?: string;
  /** The suite's own prompts, by the word of an `agent` step. */
  readonly prompts?: Readonly<Record<string, string>>;
}

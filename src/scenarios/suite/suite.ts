/** Scenarios that belong together, with where everything of theirs is. Paths are absolute. */
export interface ScenarioSuite {
  /** What commands of the suite may see of the host, where they do not run on it. */
  readonly root: string;
  readonly scenarioDir: string;
  readonly fixturesRoot: string;
  readonly recordsDir: string;
  /** What the local mirror serves; none is started without. */
  readonly mirrorDir?: string;
  /** The version of what is tested, as read from `versionFile`; with a `v` before it. */
  readonly version?: string;
  /** The suite's tool, with placeholders. Paths in it are absolute. */
  readonly cliCommand?: readonly string[];
  /** What agents are to install, update and so on, by its name. */
  readonly productName?: string;
  /** Where the product's instructions can be read by everybody. */
  readonly siteUrl?: string;
  /** Prompts of this suite's, by the word of an `agent` step. */
  readonly prompts?: Readonly<Record<string, string>>;
}

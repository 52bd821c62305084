/** A program that shows a real agent at the terminal it is started from. Argv: an order as JSON; what came of it goes to a file. */
import { writeFileSync } from "node:fs";
import { claudeCode, codex, interactive, opencode, pi } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { InteractiveSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import type { MountOption } from "../../../src/sandboxes/mounts/resolveMounts.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";

const AGENTS = { claude: claudeCode, codex, opencode, pi } as const;
export type TuiAgentName = keyof typeof AGENTS;
export type TuiSandboxName = "bubblewrap" | "docker" | "no-sandbox";

export interface TuiOrder {
  readonly agent: TuiAgentName;
  readonly model: string;
  readonly sandbox: TuiSandboxName;
  readonly image: string;
  readonly mounts: readonly MountOption[];
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly report: string;
}

/** How the session has ended, as far as JSON can tell of it. */
export interface TuiReport {
  readonly value?: {
    readonly exitCode: number;
    readonly branch: string;
    readonly commits: readonly { readonly sha: string }[];
    readonly warnings: readonly string[];
    readonly sessionFilePath?: string;
  };
  readonly error?: { readonly name: string; readonly message: string };
}

const order = JSON.parse(process.argv[2] ?? "") as TuiOrder;
const { image, mounts, path } = order;
const SANDBOXES: Record<TuiSandboxName, () => InteractiveSandboxProvider> = {
  bubblewrap: () => bubblewrap({ network: true, path, mounts }),
  docker: () => docker({ imageName: image, network: "host", mounts }),
  "no-sandbox": () => noSandbox(),
};

const report: TuiReport = await interactive({
  agent: AGENTS[order.agent](order.model),
  sandbox: SANDBOXES[order.sandbox](),
  ...order.options,
} as Parameters<typeof interactive>[0]).then(
  (value) => ({ value }),
  (error: Error) => ({ error: { name: error.constructor.name, message: error.message } }),
);
writeFileSync(order.report, JSON.stringify(report));

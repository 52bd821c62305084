import { sandboxTags } from "../services/sandboxTags.ts";

/** Which sandbox of which run. */
export interface NamedSandbox {
  readonly runId: string;
  readonly sandboxName: string;
}

/** Without characters that somebody might refuse in a tag. */
const plain = (value: string): string => value.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, 63);

/** By which a sandbox is found again. */
export const identifyingTags = ({ runId, sandboxName }: NamedSandbox): Record<string, string> => ({
  "sanddune-run": plain(runId),
  "sanddune-name": plain(sandboxName),
});

/** What a Modal sandbox is marked with. */
export const modalTags = (sandbox: NamedSandbox, lifetimeMs: number): Record<string, string> => {
  const { owner, expires } = sandboxTags(sandbox.runId, lifetimeMs);
  return {
    ...identifyingTags(sandbox),
    "sanddune-owner": plain(owner),
    "sanddune-expires": plain(expires),
  };
};

import { sandboxTags } from "../services/sandboxTags.ts";

export interface NamedSandbox {
  readonly runId: string;
  readonly sandboxName: string;
}

/** Keeps only characters that every tag accepts. */
const plain = (value: string): string => value.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, 63);

/** The tags by which a sandbox is found again. */
export const identifyingTags = ({ runId, sandboxName }: NamedSandbox): Record<string, string> => ({
  "sanddune-run": plain(runId),
  "sanddune-name": plain(sandboxName),
});

export const modalTags = (sandbox: NamedSandbox, lifetimeMs: number): Record<string, string> => {
  const { owner, expires } = sandboxTags(sandbox.runId, lifetimeMs);
  return {
    ...identifyingTags(sandbox),
    "sanddune-owner": plain(owner),
    "sanddune-expires": plain(expires),
  };
};

import type { Hooks } from "../../options/hooks.ts";
import type { CheckoutOptions } from "../../options/runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { CheckoutPlan, SandboxPlan, SourcePlan } from "./plan.ts";

const DEFAULT_COPY_TIMEOUT_MS = 60_000;

interface CheckoutTraits {
  readonly isShared?: boolean;
  readonly lasts?: boolean;
  /** The only sandbox that will use the checkout; left out if users see the files. */
  readonly sandbox?: SandboxPlan<SandboxProvider>;
}

/** Items are copied into the worktree, and hooks run in it. */
const needsFilesOnHost = ({ copyToWorktree = [], hooks }: CheckoutOptions & { readonly hooks?: Hooks }) =>
  [copyToWorktree, hooks?.host?.onWorktreeReady ?? [], hooks?.host?.onSandboxReady ?? []].some(
    ({ length }) => length > 0,
  );

const overlayQuestion = (provider: SandboxProvider | undefined): CheckoutPlan["overlayProblem"] =>
  provider?.type === "bind-mount" ? provider.overlayProblem?.bind(provider) : undefined;

export const planCheckout = (
  options: CheckoutOptions & { readonly hooks?: Hooks },
  source: SourcePlan | undefined,
  { isShared = false, lasts = false, sandbox }: CheckoutTraits = {},
): CheckoutPlan => ({
  source,
  isShared,
  lasts,
  overlayProblem: needsFilesOnHost(options) ? undefined : overlayQuestion(sandbox?.provider),
  stacksLayers: sandbox?.provider.type === "bind-mount" && sandbox.provider.stacksLayers === true,
  setup: sandbox,
  copyToWorktree: options.copyToWorktree ?? [],
  copyToWorktreeMs: options.timeouts?.copyToWorktreeMs ?? DEFAULT_COPY_TIMEOUT_MS,
  onWorktreeReady: options.hooks?.host?.onWorktreeReady ?? [],
});

import { type Check, flag, listOf, milliseconds, nested, text } from "./checks.ts";
import { checkCachedFirst, hookCache } from "./hookCache.ts";

const hookList = (path: string, checks: Record<string, Check>): Check => listOf(path, checks, ["command"]);
const HOST_HOOK = { command: text, timeoutMs: milliseconds };
const onWorktreeReady = hookList("hooks.host.onWorktreeReady", HOST_HOOK);
const onSandboxReady = hookList("hooks.host.onSandboxReady", HOST_HOOK);
const inSandbox = hookList("hooks.sandbox.onSandboxReady", { ...HOST_HOOK, sudo: flag, cache: hookCache });
const sandboxLists = nested("hooks.sandbox", {
  onSandboxReady: (value) => inSandbox(value) ?? checkCachedFirst(value),
});
export const hooks: Check = nested("hooks", {
  host: nested("hooks.host", { onWorktreeReady, onSandboxReady }),
  sandbox: sandboxLists,
});
export const worktreeHooks: Check = nested("hooks", { host: nested("hooks.host", { onWorktreeReady }) });
export const sandboxHooks: Check = nested("hooks", {
  host: nested("hooks.host", { onSandboxReady }),
  sandbox: sandboxLists,
});

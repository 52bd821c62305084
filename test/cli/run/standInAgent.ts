import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const says = (event: object): string => `printf '%s\\n' '${JSON.stringify(event)}'`;

/** Says a sentence, in the way of Claude Code. */
export const saysText = (text: string, usage: object = {}): string =>
  says({ type: "assistant", message: { id: "message", content: [{ type: "text", text }], usage } });

export const succeeds = says({ type: "result", subtype: "success", is_error: false, result: "Done." });

/** The model lets it do no more for now. */
export const isLimited = (words: string): string =>
  [
    says({
      type: "assistant",
      is_api_error_message: true,
      api_error_status: 429,
      message: { content: [{ type: "text", text: words }] },
    }),
    says({ type: "result", subtype: "error_during_execution", is_error: true, result: words }),
  ].join("\n");

/**
 * A script that stands in for Claude Code, on the PATH of a bubblewrap sandbox. Returns the flags that have a run use
 * it.
 */
export const standInAgent = (script: string): string[] => {
  const bin = join(temporaryDirectory(), "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "claude"), `#!/bin/sh\ncat > /dev/null\n${script}\n`, { mode: 0o755 });
  return [
    ...["--agent", "claude-code", "--model", "claude-opus-4-8"],
    ...["--sandbox", "bubblewrap", "--read-only-path", bin, "--path", `${bin}:/usr/bin:/bin`],
  ];
};

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { apiError, attack, claudeSession, failure, posing, print } from "./posing.ts";
import { filesIn, hostHome, projectOf } from "./sessionAttacks.ts";
import { failureOf } from "./support.ts";

/** A directory of the agent's own, in which whatever runs in the sandbox looks for its programs first. */
const EVIL = "/tmp/evil";
const PATH = { PATH: { public: `${EVIL}:/usr/local/bin:/usr/bin:/bin` } } as const;

/** Replaces a program of the sandbox for all that comes. */
const replace = (name: string, script: string): string =>
  `mkdir -p ${EVIL}; printf '%s\\n' '#!/bin/sh' '${script.replaceAll("'", "'\\''")}' > ${EVIL}/${name}; chmod +x ${EVIL}/${name}`;

const SESSION = "echo '{}' > abc.jsonl";

const places = () => {
  const home = hostHome();
  const cwd = temporaryRepository();
  return { home, cwd, project: projectOf(home, cwd) };
};

const withReplaced = (
  cwd: string,
  tools: Readonly<Record<string, string>>,
  options: Partial<RunOptions> = {},
) =>
  attack(
    cwd,
    posing(
      "claude",
      claudeSession("abc", SESSION, ...Object.entries(tools).map(([name, script]) => replace(name, script))),
    ),
    { env: PATH, ...options },
  );

describe("programs of the sandbox that the agent has replaced reach no file of another name", () => {
  it.each([
    ["a way out", "../../../../escaped"],
    ["a way out of the project", "projects/../escaped.jsonl"],
    ["an absolute path", "/tmp/escaped.jsonl"],
    ["another session", "projects/-x/other.jsonl"],
    ["settings", "settings.json"],
    ["a way out of the session", "projects/-x/abc/subagents/../../../../x.jsonl"],
    ["dots in the session", "projects/-x/abc/subagents/..jsonl"],
    ["a hidden file", "projects/-x/abc/subagents/.x.jsonl"],
    ["a long name", `projects/-x/abc/subagents/${"x".repeat(300)}.jsonl`],
    ["a very long name", `projects/-x/abc/subagents/${"x".repeat(50_000)}.jsonl`],
    ["a NUL", "projects/-x/abc/subagents/\\0.jsonl"],
  ])("%s", async (_, name) => {
    const { home, cwd, project } = places();
    const { iterations, warnings } = await withReplaced(cwd, {
      base64: `printf 'e30K\\nfile 3 ${name}\\ne30K\\n'`,
    });
    expect(iterations[0]?.sessionFilePath).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("not captured")]);
    expect(warnings.join().length).toBeLessThan(2000);
    expect(filesIn(home).map((file) => join(home, file))).toEqual(
      existsSync(join(project, "abc.jsonl")) ? [join(project, "abc.jsonl")] : [],
    );
  });

  it.each([
    ["something else than Base64", { base64: "echo '<html>'" }],
    ["nothing", { base64: "exit 1" }],
    ["a size that is none", { wc: "echo many" }],
    ["a size that is an option", { wc: "echo -n" }],
    ["a negative size", { wc: "echo -5" }],
    ["a huge size", { wc: "echo 99999999999999999999999999999" }],
    ["a shell expression as size", { wc: "echo 'a[$(touch /tmp/evil/x)]'" }],
    ["a file that vanishes", { wc: "rm -rf projects; echo 3" }],
    ["a directory that vanishes", { head: 'rm -rf "$HOME/.claude"; echo' }],
    ["endless Base64", { base64: "yes AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
    ["one endless line", { base64: "tr '\\0' A </dev/zero" }],
    ["endless files", { base64: "yes 'file 0 projects/-x/abc.jsonl'" }],
  ])("%s: the run ends, and succeeds", { timeout: 180_000 }, async (_, tools) => {
    const { home, cwd, project } = places();
    const { iterations } = await withReplaced(cwd, tools as Record<string, string>);
    expect(iterations).toHaveLength(1);
    const files = filesIn(home).map((file) => join(home, file));
    expect(files.filter((file) => file !== join(project, "abc.jsonl"))).toEqual([]);
    expect(filesIn(join(cwd, ".sanddune/runs")).filter((file) => file.includes("agent-session"))).toEqual([]);
  });
});

describe("a sandbox that does not answer while the session is captured", () => {
  it.each([
    ["is silent", "sleep 1000"],
    ["is noisy", "yes noise >&2"],
  ])("and %s holds up a failed run for a short time only", { timeout: 120_000 }, async (_, base64) => {
    const { cwd } = places();
    const script = [
      claudeSession("abc", SESSION, replace("base64", base64)),
      print(apiError("Invalid API key", 401), failure("Invalid API key", 401)),
    ].join("\n");
    const error = await failureOf(attack(cwd, posing("claude", script), { env: PATH }));
    expect(error.name).toBe("AgentAuthenticationError");
    expect(error.warnings).toEqual([expect.stringContaining("not captured")]);
  });

  it("does not keep the user waiting who aborts the run", { timeout: 20_000 }, async () => {
    const { cwd } = places();
    const meeting = temporaryDirectory();
    const stop = new AbortController();
    const running = withReplaced(
      cwd,
      { base64: `touch ${meeting}/here; sleep 1000` },
      {
        signal: stop.signal,
        sandbox: bubblewrap({ mounts: [{ hostPath: meeting, sandboxPath: meeting, readOnly: false }] }),
      },
    ).catch((error: unknown) => error);
    await waitFor(() => existsSync(join(meeting, "here")));
    stop.abort(new Error("enough"));
    expect(await running).toBe(stop.signal.reason);
  });
});

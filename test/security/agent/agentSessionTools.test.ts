import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../support.ts";
import { apiError, attack, claudeSession, failure, posing, print } from "./posing.ts";
import { filesIn, hostHome, type SessionScene, sessionScene } from "./sessionAttacks.ts";

const SESSION = "echo '{}' > abc.jsonl";

/** Replaces a program of the sandbox, in a directory of the agent's own, for all that looks there first. */
const replace = (directory: string, name: string, script: string): string =>
  `mkdir -p ${directory}; printf '%s\\n' '#!/bin/sh' '${script.replaceAll("'", "'\\''")}' > ${directory}/${name}; chmod +x ${directory}/${name}`;

const pathWith = (directory: string) => `${directory}:/usr/local/bin:/usr/bin:/bin`;

/** Captures a session in a sandbox whose programs the agent has replaced. */
const captureWith = async (
  { handle, inProject, capture }: SessionScene,
  tools: Readonly<Record<string, string>>,
  options: Parameters<SessionScene["capture"]>[1] = {},
): Promise<string> => {
  const evil = join(handle.worktreePath, "evil");
  await inProject(SESSION, ...Object.entries(tools).map(([name, script]) => replace(evil, name, script)));
  const env = { PATH: pathWith(evil) };
  const exec: typeof handle.exec = (command, more) => handle.exec(command, { ...more, env });
  return capture("abc", { handle: { ...handle, exec }, ...options });
};

/** What is on the host, but for the session itself. */
const othersThan = ({ home, project }: SessionScene): string[] =>
  filesIn(home).filter((file) => join(home, file) !== join(project, "abc.jsonl"));

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
    const scene = await sessionScene();
    await expect(
      captureWith(scene, { base64: `printf 'e30K\\nfile 3 ${name}\\ne30K\\n'` }),
    ).rejects.toThrow();
    expect(othersThan(scene)).toEqual([]);
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
    ["one endless line", { base64: "tr '\\0' A </dev/zero" }],
    ["endless files", { base64: "yes 'file 0 projects/-x/abc.jsonl'" }],
  ])("%s: the capture comes to an end, and leaves nothing else", async (_, tools) => {
    const scene = await sessionScene();
    const workDirectory = join(temporaryDirectory(), "work");
    await captureWith(scene, tools as Record<string, string>, { workDirectory }).catch(() => undefined);
    expect(othersThan(scene)).toEqual([]);
    expect(existsSync(workDirectory)).toBe(false);
  });
});

describe("a sandbox that does not answer while the session is captured", () => {
  const SILENT_OR_NOISY = ["sleep 1000", "yes noise >&2"];

  it("holds up a failed run for a short time only", async () => {
    hostHome();
    const failed = (base64: string) => {
      const evil = join(temporaryDirectory(), "evil");
      const script = [
        claudeSession("abc", SESSION, replace(evil, "base64", base64)),
        print(apiError("Invalid API key", 401), failure("Invalid API key", 401)),
      ].join("\n");
      return failureOf(
        attack(temporaryRepository(), posing("claude", script), {
          env: { PATH: { public: pathWith(evil) } },
        }),
      );
    };
    for (const error of await Promise.all(SILENT_OR_NOISY.map(failed))) {
      expect(error.name).toBe("AgentAuthenticationError");
      expect(error.warnings).toEqual([expect.stringContaining("not captured")]);
    }
  });

  it("does not keep the user waiting who aborts the run", async () => {
    hostHome();
    const meeting = temporaryDirectory();
    const stop = new AbortController();
    const base64 = replace(meeting, "base64", `touch ${meeting}/here; sleep 1000`);
    const running = attack(temporaryRepository(), posing("claude", claudeSession("abc", SESSION, base64)), {
      env: { PATH: { public: pathWith(meeting) } },
      signal: stop.signal,
    }).catch((error: unknown) => error);
    await waitFor(() => existsSync(join(meeting, "here")));
    stop.abort(new Error("enough"));
    expect(await running).toBe(stop.signal.reason);
  });
});

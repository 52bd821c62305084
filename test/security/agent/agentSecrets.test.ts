import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentStreamEvent,
  claudeCode,
  codex,
  cursor,
  InvalidOptionsError,
  type McpServers,
  opencode,
  pi,
  type RunOptions,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { commandLinesWithSecret, SECRET, tracesOf } from "../secrets/traces.ts";
import {
  type AgentName,
  apiError,
  attack,
  claudeSession,
  failure,
  posing,
  print,
  SUCCESS,
} from "./posing.ts";
import { hostHome } from "./sessionAttacks.ts";

needsRuntimes("bubblewrap");

/** One that may be a session id. */
const TOKEN = "tokZx81mQv9pLw4kR7bN2cX5";
/** So much of a secret is not there by chance. */
const PIECES = [TOKEN.slice(0, 12), TOKEN.slice(-12)];

/** Where a run tells of the secret, or of its beginning or end. */
const tell = async (
  script: string,
  options: Partial<RunOptions> = {},
  agent: AgentName = "claude",
): Promise<string[]> => {
  hostHome();
  const cwd = temporaryRepository();
  const events: AgentStreamEvent[] = [];
  const ended = await attack(cwd, posing(agent, script), {
    sandbox: bubblewrap(),
    env: { API_KEY: TOKEN, PATH: { public: "/tmp/evil:/usr/bin:/bin" } },
    logging: { type: "file", onAgentStreamEvent: (event: AgentStreamEvent) => events.push(event) },
    ...options,
  }).catch((error: Error) => error);
  const traces = tracesOf(cwd, { ended, events });
  expect(Object.values(traces).join("\n")).toMatch(/\[redacted API_KEY\]|was not captured/);
  return Object.entries(traces)
    .filter(([, text]) => PIECES.some((piece) => text.includes(piece)))
    .map(([place]) => place);
};

const printed = (line: string) => `echo '${line}' | sed "s/KEY/$API_KEY/g"`;
const asJson = (...lines: object[]) => printed(lines.map((line) => JSON.stringify(line)).join("\n"));

/** Has a secret at its beginning, and another where it might be cut. */
const CUT = `KEY ${"x".repeat(4000 - 2 * TOKEN.length + 6)} KEY`;

describe("a secret is shown nowhere", () => {
  it.each([
    [
      "as the id of a session that is captured",
      `T="$API_KEY"; ${asJson({ type: "system", subtype: "init", session_id: "KEY" })}
      mkdir -p "$HOME/.claude/projects/-x"; echo {} > "$HOME/.claude/projects/-x/$T.jsonl"; ${print(SUCCESS)}`,
    ],
    [
      "as the id of a session that is captured after a failure",
      `T="$API_KEY"; ${asJson({ type: "system", subtype: "init", session_id: "KEY" })}
      mkdir -p "$HOME/.claude/projects/-x"; echo {} > "$HOME/.claude/projects/-x/$T.jsonl"; exit 3`,
    ],
    [
      "as the id of a session that is not there",
      `${asJson({ type: "system", subtype: "init", session_id: "KEY" })}\n${print(SUCCESS)}`,
    ],
    [
      "as part of what is no session id",
      `${asJson({ type: "system", subtype: "init", session_id: "../KEY" })}\n${print(SUCCESS)}`,
    ],
    [
      "in what the model's server says",
      asJson(apiError("Invalid key KEY", 401), failure("Invalid key KEY", 401)),
    ],
    ["in an error that is cut", asJson(apiError(CUT, 401), failure(CUT, 401))],
    [
      "in a long error that is cut",
      asJson(apiError(`${CUT}${"x".repeat(9000)}`, 401), {
        type: "result",
        subtype: "error",
        is_error: true,
      }),
    ],
    ["in errors of a result", asJson({ type: "result", subtype: "error_during_execution", errors: ["KEY"] })],
    [
      "in the sample of lines that were not understood",
      `for i in 1 2 3 4 5 6; do ${printed(`${"x".repeat(185)}KEY`)}; done; ${print(SUCCESS)}`,
    ],
    [
      "in the name of a file beside the session",
      claudeSession(
        "abc",
        'echo {} > abc.jsonl; mkdir -p abc/subagents; ln -s x "abc/subagents/$API_KEY.jsonl"',
      ),
    ],
    [
      "in the last words of a capture that failed",
      claudeSession(
        "abc",
        "echo {} > abc.jsonl; mkdir -p /tmp/evil",
        `printf '%s\\n' '#!/bin/sh' 'printf %s "$API_KEY" >&2; head -c 4085 /dev/zero | tr "\\0" x >&2; exit 1' > /tmp/evil/base64; chmod +x /tmp/evil/base64`,
      ),
    ],
    [
      "in a rate limit that is waited for",
      asJson(apiError("429 KEY rate limit, try again in 1 s", 429), failure("429 KEY rate limit", 429)),
    ],
  ])("%s", async (_, script) => {
    expect(await tell(script, { onRateLimit: { waitUpToMs: 1500 } })).toEqual([]);
  });

  it.each([
    ["codex", asJson({ type: "turn.failed", error: { message: CUT } })],
    [
      "gemini",
      asJson({ type: "error", severity: "error", message: CUT }, { type: "result", status: "error" }),
    ],
    ["gemini", `{ ${printed(`Error: ${CUT}`)}; } >&2; exit 1`],
    ["opencode", asJson({ type: "error", error: { name: "x", data: { message: CUT } } })],
    ["pi", asJson({ type: "auto_retry_start", errorMessage: CUT })],
  ] as const)("in an error of %s that is cut (%#)", async (agent, script) => {
    expect(await tell(script, {}, agent)).toEqual([]);
  });

  it("nor is what the terminal would obey, in the log", async () => {
    hostHome();
    const script = `for i in 1 2 3 4 5 6; do printf '\\033]52;c;ZXZpbA==\\007\\n'; done
      ${print(apiError("\u001b[2J", 401), failure("\u001b]0;evil\u0007\nThe run succeeded.", 401))}`;
    const error = await attack(temporaryRepository(), posing("claude", script), {
      sandbox: bubblewrap(),
    }).catch((reason: { logFilePath?: string }) => reason);
    const log = readFileSync(error.logFilePath as string, "latin1");
    expect(log).toContain("evil");
    expect(log).not.toMatch(/[\x07\x1b]/);
    expect(log).not.toMatch(/^The run succeeded/m);
  });
});

describe("a secret in the settings of an MCP server is refused, or is on no command line", () => {
  const servers: McpServers = { tools: { command: "true", env: { TOKEN: SECRET } } };
  const remote: McpServers = { tools: { url: "http://localhost:1", headers: { Authorization: SECRET } } };

  it.each([
    ["claude", "a program's", claudeCode("m"), servers],
    ["claude", "a server's", claudeCode("m"), remote],
    ["codex", "a server's", codex("m"), remote],
    ["opencode", "a program's", opencode("a/m"), servers],
    ["pi", "a program's", pi("a/m"), servers],
    ["cursor-agent", "a server's", cursor("m"), remote],
  ])("%s with %s", async (program, _, agent, mcpServers) => {
    hostHome();
    const meeting = temporaryDirectory();
    const script = `#!/bin/sh\ntouch ${meeting}/here; until [ -e ${meeting}/go ]; do sleep 0.02; done\n`;
    writeFileSync(join(meeting, program), script);
    chmodSync(join(meeting, program), 0o755);
    const running = attack(temporaryRepository(), { ...agent, env: {} }, {
      mcpServers,
      env: { API_KEY: SECRET, PATH: { public: `${meeting}:/usr/bin:/bin` } },
      sandbox: bubblewrap({ mounts: [{ hostPath: meeting, sandboxPath: meeting, readOnly: false }] }),
    } as Partial<RunOptions>).catch((error: unknown) => error);
    await Promise.race([running, waitFor(() => existsSync(join(meeting, "here")))]);
    const seen = commandLinesWithSecret();
    writeFileSync(join(meeting, "go"), "");
    const ended = await running;
    if (!existsSync(join(meeting, "here"))) expect(ended).toBeInstanceOf(InvalidOptionsError);
    expect(seen.map((line) => line.slice(0, 60))).toEqual([]);
  });
});

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type AgentProvider,
  type AgentStreamEvent,
  command,
  type RunOptions,
  run,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxMount, SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { play, STRATEGIES, shell } from "../support.ts";
import {
  commandLinesWithSecret,
  eventAgent,
  inspectContainers,
  leaksIn,
  SECRET,
  tracesOf,
} from "./traces.ts";

const NAMES = ["API_KEY", "API_KEY_2", "API_KEY_OLD", "api_key"];
afterEach(() => {
  for (const name of NAMES) delete process.env[name];
});

describeWith(["bubblewrap"], "in bubblewrap", () => {
  it("a declared variable of the host enters the sandbox, and none with a similar name", async () => {
    for (const name of NAMES) process.env[name] = `host-value-of-${name}`;
    const cwd = temporaryRepository();
    await play(
      cwd,
      [shell("cat /proc/*/environ | tr '\\0' '\\n' > seen.txt; env >> seen.txt"), { commit: "Report" }],
      {
        branchStrategy: STRATEGIES.branch,
        env: { API_KEY: undefined },
      },
    );
    const seen = git(cwd, "show", "agent/work:seen.txt").split("\n");
    expect([...new Set(seen.filter((line) => line.includes("host-value-of-")))]).toEqual([
      "API_KEY=host-value-of-API_KEY",
    ]);
  });
});

/** Runs to the end, whichever that is, and gives everything that the run has told. */
const tracesOfRun = async (agent: AgentProvider, options: Partial<RunOptions> = {}) => {
  const cwd = temporaryRepository();
  const events: AgentStreamEvent[] = [];
  const ended = await run({
    agent,
    sandbox: testIsolated(),
    cwd,
    prompt: "Work",
    branchStrategy: STRATEGIES.branch,
    env: { API_KEY: SECRET },
    logging: { type: "file", verbose: true, onAgentStreamEvent: (event) => events.push(event) },
    ...options,
  } as RunOptions).catch((error: Error) => error);
  return tracesOf(cwd, { ended, events });
};

const expectRedacted = (traces: Readonly<Record<string, string>>): void => {
  expect(leaksIn(traces)).toEqual([]);
  expect(Object.values(traces).join("\n")).toContain("[redacted API_KEY]");
};

/** With the secret as JSON writes it. */
const AS_JSON = `K=$(printf %s "$API_KEY" | sed 's/"/\\\\"/g')`;
const event = (format: string): string => `${AS_JSON}; printf '${format}\\n' "$K"`;

/** Each in a line of its own, so that each is one place where the secret may be told. */
const SAYINGS: Readonly<Record<string, string>> = {
  "in its text": 'echo "The key is $API_KEY."',
  "on stderr": 'echo "The key is $API_KEY." >&2',
  "in Base64": 'printf %s "$API_KEY" | base64 -w0; echo',
  "in the Base64 of a login": 'printf "user:%s" "$API_KEY" | base64 -w0; echo',
  "URL-encoded": `printf 'https://host/?k=%s\\n' "$(printf %s "$API_KEY" | sed 's/"/%22/g; s/+/%2B/g; s,/,%2F,g; s/=/%3D/g')"`,
  "in its environment": "env",
};

const EVENTS: readonly string[] = [
  event('{"type":"toolCall","name":"sh","input":{"c":["curl",{"h":"%s"}]}}'),
  event('{"type":"toolCall","name":"%s","input":{}}'),
  event('{"type":"toolCall","name":"sh","id":"%s","input":"$API_KEY"}'),
  event('{"type":"toolResult","output":"API_KEY=%s"}'),
  event('{"type":"sessionId","sessionId":"%s"}'),
  'echo "what is $API_KEY"; echo "and $API_KEY" >&2',
  event('{"type":"result","isError":false,"message":"used %s"}'),
];

describe("an agent that says its secret is not quoted", () => {
  it.each(Object.entries(SAYINGS))("%s", async (_, saying) =>
    expectRedacted(await tracesOfRun(command(saying))),
  );

  it("in the parts of its events: tool calls, results, ids, lines that mean nothing", async () => {
    const traces = await tracesOfRun(eventAgent(EVENTS.join("\n")));
    expectRedacted(traces);
    expect(traces["events"]?.split("[redacted API_KEY]").length).toBeGreaterThan(EVENTS.length);
  });

  it("in pieces of text", async () => {
    const script = `for c in $(printf %s "$API_KEY" | sed 's/./& /g'); do printf '{"type":"text","text":"%s"}\\n' "$(printf %s "$c" | sed 's/"/\\\\"/')"; done`;
    expectRedacted(await tracesOfRun(eventAgent(script)));
  });

  it("in pieces of text with other events in between", async () => {
    const script = `first=$(printf %s "$API_KEY" | cut -c5-12); rest=$(printf %s "$API_KEY" | cut -c13-)
      printf '{"type":"text","text":"tok\\\\"%s"}\\nnoise\\n{"type":"text","text":"%s"}\\n' "$first" "$rest"`;
    expect(leaksIn(await tracesOfRun(eventAgent(script)))).toEqual([]);
  });
});

const LAST_WORDS: Readonly<Record<string, AgentProvider>> = {
  "on stderr": command('echo "401 for $API_KEY" >&2; exit 1'),
  "on stderr, as JSON": command(`${AS_JSON}; echo "{\\"key\\":\\"$K\\"}" >&2; exit 1`),
  "in its result": eventAgent(event('{"type":"result","isError":true,"message":"401 for %s"}')),
};

describe("an agent that fails with its secret on its lips is not quoted", () => {
  it.each(Object.entries(LAST_WORDS))("%s", async (_, agent) => expectRedacted(await tracesOfRun(agent)));

  it.each([
    ["its message", 2000],
    ["its stderr", 64 * 1024],
  ])("nor in part, where the error cuts %s off", async (_, length) => {
    const filler = `head -c ${length - SECRET.length + 3} /dev/zero | tr '\\0' x`;
    const traces = await tracesOfRun(command(`{ printf %s "$API_KEY"; ${filler}; } >&2; exit 1`));
    const rest = SECRET.slice(6);
    expect(Object.keys(traces).filter((place) => traces[place]?.includes(rest))).toEqual([]);
  });
});

describe("other errors of a run hold no secret either", () => {
  it("of a hook that fails", async () => {
    const hooks = {
      sandbox: { onSandboxReady: [{ command: 'echo "$API_KEY"; echo "$API_KEY" >&2; exit 1' }] },
    };
    expectRedacted(await tracesOfRun(command("true"), { hooks }));
  });

  it("of an agent provider that throws", async () => {
    const agent: AgentProvider = {
      ...command('echo "$API_KEY"'),
      createParser: () => (line) => {
        throw new Error(`cannot read ${line}`);
      },
    };
    expectRedacted(await tracesOfRun(agent));
  });

  it("of another env var whose command fails", async () => {
    const traces = await tracesOfRun(command("true"), {
      env: { API_KEY: SECRET, OTHER: { command: `printf '%s' '${SECRET}' >&2; exit 1` } },
    });
    expect(leaksIn(traces)).toEqual([]);
  });
});

/** Looks around while an agent that has the secret is at work. */
const lookDuringRun = async <Seen>(
  sandbox: (mounts: SandboxMount[]) => SandboxProvider,
  look: () => Seen,
): Promise<Seen> => {
  const directory = temporaryDirectory();
  const waits = shell(`touch ${directory}/here; until [ -e ${directory}/go ]; do sleep 0.02; done`);
  const running = play(temporaryRepository(), [waits], {
    sandbox: sandbox([{ hostPath: directory, sandboxPath: directory, readOnly: false }]),
    env: { API_KEY: SECRET },
  });
  await Promise.race([running, waitFor(() => existsSync(join(directory, "here")))]);
  const seen = look();
  writeFileSync(join(directory, "go"), "");
  await running;
  return seen;
};

describe("while the agent runs, its secret is on no command line", () => {
  describeWith(["bubblewrap"], "with bubblewrap", () => {
    it("of any process", async () => {
      expect(await lookDuringRun((mounts) => bubblewrap({ mounts }), commandLinesWithSecret)).toEqual([]);
    });
  });

  describeWith(["docker"], "with docker", () => {
    it("nor in what docker knows about the container", async () => {
      const { lines, containers } = await lookDuringRun(
        (mounts) => docker({ imageName: TEST_IMAGE, mounts }),
        () => ({ lines: commandLinesWithSecret(), containers: inspectContainers() }),
      );
      expect(lines).toEqual([]);
      expect(containers).toContain('"Env"');
      expect(leaksIn({ containers })).toEqual([]);
    });
  });
});

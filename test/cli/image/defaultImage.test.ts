import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentProvider } from "../../../src/agents/contract.ts";
import { type AgentName, agentRegistry } from "../../../src/agents/registry.ts";
import { dockerfileFor } from "../../../src/images/dockerfile.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { buildNodeImage } from "../../helpers/runtimes/nodeImage.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "../fixtures.ts";
import { inImage } from "./scenes.ts";

const templateText = readFileSync(join(import.meta.dirname, "../../../templates/Dockerfile"), "utf8");

const BASE = `sanddune-test-node:${randomBytes(4).toString("hex")}`;
const NODE = `${BASE}-without-gh`;
const IMAGE = BASE.replace("-test-node", "");
/** All are packages of npm's. The script of this one puts a binary in its place, so that more can go wrong. */
const AGENT: AgentName = "claude-code";
const TOOLS = ["git --version", "curl --version", "jq --version", "rg --version", "ps --version"];

/** Of the base image's, `node` is 1000:1000 and `dialout` is 20. */
const IDS = [
  [1000, 20],
  [1000, 5432],
  [501, 20],
  [4321, 1000],
  [4321, 5432],
] as const;

const agent = agentRegistry[AGENT].create(agentRegistry[AGENT].exampleModel);

/** Packages come from this machine's own sources, which are in its network. */
const buildDefault = async (cwd: string, ...args: readonly string[]): Promise<void> => {
  const flags = ["--image-name", IMAGE, "--network", "host", "--build-arg", `BASE_IMAGE=${BASE}`];
  const { exitCode, stderr } = await runCli(["docker", "build-image", ...flags, ...args], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
};

const repositoryWithDockerfile = (installed: AgentProvider): string => {
  const cwd = repositoryWithAgent(OBEDIENT_AGENT);
  mkdirSync(join(cwd, ".sanddune"));
  const text = dockerfileFor({
    templateText,
    buildCommand: "",
    packageManager: [],
    agent: installed,
    backlogTools: [],
  });
  writeFileSync(join(cwd, ".sanddune/Dockerfile"), text);
  return cwd;
};

/** A step of several lines, as the shell gets it. */
const stepWith = (words: string): string => {
  const steps = [...templateText.matchAll(/^RUN (set -eu;.*(?<=\\)(?:\n.*(?<=\\))*\n.*)$/gm)].map(
    ([, step = ""]) => step,
  );
  const found = steps.find((step) => step.includes(words));
  if (found === undefined) throw new Error(`templates/Dockerfile has no step with ${words}`);
  return found;
};

/** GitHub cannot be reached from every machine that tests: this base image has a gh of its own. */
const withOwnGh = (engine: "docker" | "podman", base: string, name: string): void => {
  const step =
    "RUN printf '#!/bin/sh\\necho my own gh\\n' >/usr/local/bin/gh && chmod a+rx /usr/local/bin/gh";
  execFileSync(engine, ["build", "--quiet", "--tag", name, "-"], { input: `FROM ${base}\n${step}\n` });
};

/** Runs the step that installs gh where curl and apt-get only note how they are called, and curl ends like that. */
const installGh = (curlExitCode: number): string =>
  [
    "mkdir /stubs && cd /stubs",
    `printf '#!/bin/sh\\necho curl "$@"\\n: >"$6"\\nexit ${curlExitCode}\\n' >curl`,
    `printf '#!/bin/sh\\necho apt-get "$@"\\n' >apt-get`,
    "chmod a+x curl apt-get",
    `PATH=/stubs:$PATH GH_PACKAGES=https://mirror.example.com/gh sh -c ${shellQuote(stepWith("GH_PACKAGES"))} || echo failed`,
    "cat /etc/apt/sources.list.d/github-cli.list || true",
  ].join("\n");

/** Runs it once for each pair of ids, always on the accounts of the base image. */
const withEachPair = (step: string): string =>
  [
    "set -eu",
    "cp -a /etc /accounts",
    ...IDS.flatMap(([uid, gid]) => [
      `AGENT_UID=${uid} AGENT_GID=${gid} sh -c ${shellQuote(step)}`,
      "echo $(id -u agent):$(id -g agent) $(getent passwd agent | cut -d: -f6) $(stat -c %u:%g /home/agent)",
      "rm -r /home/agent",
      "for file in passwd shadow group gshadow subuid subgid; do cp -a /accounts/$file /etc/$file; done",
    ]),
  ].join("\n");

describeWith(["docker", "node 22"], "the default Dockerfile in docker", () => {
  beforeAll(() => {
    buildNodeImage("docker", NODE);
    withOwnGh("docker", NODE, BASE);
  });
  afterAll(() => {
    spawnSync("docker", ["image", "rm", "--force", IMAGE, BASE, NODE]);
  });

  test("builds an image whose agent and tools every user can use, and a whole run in it brings back a commit", async () => {
    const cwd = repositoryWithDockerfile(agent);
    await buildDefault(cwd, "--build-arg", "AGENT_UID=4321", "--build-arg", "AGENT_GID=1000");

    const { dockerfile = [], versionCommand = [] } = agent.installation ?? {};
    const [, version = "none"] = /@(\d[\w.]*)$/.exec(dockerfile.at(-1) ?? "") ?? [];
    const askAll = [
      "export HOME=$(mktemp -d)",
      "node --version",
      ...TOOLS.map((tool) => `${tool} >/dev/null`),
      "gh --version",
      versionCommand.map(shellQuote).join(" "),
    ].join(" && ");
    for (const user of [`${process.getuid?.()}:${process.getgid?.()}`, "12345:12345"]) {
      const answers = inImage("docker", IMAGE, askAll, user);
      expect(answers).toMatch(/^v22\./);
      expect(answers).toContain(version);
      expect(answers).toContain("my own gh");
    }
    expect(inImage("docker", IMAGE, "id -u; id -un; echo ~; touch ~/file && echo writable", "agent")).toBe(
      "4321\nagent\n/home/agent\nwritable",
    );

    const flags = ["--agent-command", "sh ./agent.sh", "--sandbox", "docker", "--image-name", IMAGE];
    const run = await runCli(["run", ...flags, "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
    expect(leftovers(cwd)).toEqual([]);
  }, 240_000);

  test("gets gh from GitHub's packages, and fails if these are unavailable instead of using an older one", () => {
    const keyring = "/usr/share/keyrings/githubcli-archive-keyring.gpg";
    const mirror = "https://mirror.example.com/gh";
    const [fetched, update, install, source] = inImage("docker", TEST_IMAGE, installGh(0)).split("\n");
    expect(fetched).toMatch(
      new RegExp(`^curl --fail .*--output ${keyring} ${mirror}/githubcli-archive-keyring.gpg$`),
    );
    expect(update).toBe("apt-get update --error-on=any");
    expect(install).toBe("apt-get install --yes --no-install-recommends gh");
    expect(source).toMatch(new RegExp(`^deb \\[arch=\\w+ signed-by=${keyring}\\] ${mirror} stable main$`));
    const [, ...rest] = inImage("docker", TEST_IMAGE, installGh(6)).split("\n");
    expect(rest).toEqual(["failed"]);
  });

  test("gives the user the ids that are asked for, of which the base image has both, one, the other or none", () => {
    expect(inImage("docker", BASE, withEachPair(stepWith("AGENT_UID"))).split("\n")).toEqual(
      IDS.map(([uid, gid]) => `${uid}:${gid} /home/agent ${uid}:${gid}`),
    );
  });
});

/** What the Dockerfile names as its base, as Podman finds it on this machine. */
const OFFICIAL = "localhost/node:22-bookworm";

/** The tests' own Podman has no network; init has no flag for one, since everybody else's has. */
const envWithNetwork = (): Record<string, string> => {
  const usual = process.env["CONTAINERS_CONF"];
  if (usual === undefined) return {};
  const path = join(temporaryDirectory(), "containers.conf");
  writeFileSync(path, readFileSync(usual, "utf8").replace('netns = "none"', 'netns = "host"'));
  return { CONTAINERS_CONF: path };
};

describeWith(["podman"], "the default Dockerfile in podman", () => {
  afterAll(() => {
    spawnSync("podman", ["image", "rm", "--force", IMAGE, OFFICIAL]);
  });

  test("is built by init, and the command line takes the image for granted from then on", async () => {
    // The official one has Node as well, which no step of the Dockerfile without an agent needs.
    withOwnGh("podman", TEST_IMAGE, OFFICIAL);
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const answers = ["--agent-command", "sh ./agent.sh", "--sandbox", "podman", "--template", "blank"];
    const made = await runCli(["init", ...answers, "--image-name", IMAGE, "--json"], {
      cwd,
      env: envWithNetwork(),
    });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(made.stdout)).toMatchObject({ imageName: IMAGE, built: true });
    // Ids are those of whoever builds, unless that is root.
    expect(inImage("podman", IMAGE, "id -u; id -un; pwd; jq --version", "agent")).toMatch(
      new RegExp(`^${process.getuid?.() || 1000}\nagent\n/home/agent\njq-`),
    );
    const run = await runCli(["run", "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  }, 180_000);
});

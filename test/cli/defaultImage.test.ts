import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentProvider } from "../../src/agents/contract.ts";
import { type AgentName, agentRegistry } from "../../src/agents/registry.ts";
import { dockerfileFor } from "../../src/images/dockerfile.ts";
import { shellQuote } from "../../src/process/shellQuote.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { buildNodeImage } from "../helpers/nodeImage.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { runCli } from "./callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "./fixtures.ts";
import { inImage } from "./imageScenes.ts";

const templateText = readFileSync(join(import.meta.dirname, "../../templates/Dockerfile"), "utf8");

const BASE = `sanddune-test-node:${randomBytes(4).toString("hex")}`;
const IMAGE = BASE.replace("-test-node", "");
/** Each of them is a package of npm's; this one is small. */
const AGENT: AgentName = "gemini";
const TOOLS = [
  "git --version",
  "curl --version",
  "jq --version",
  "gh --version",
  "rg --version",
  "ps --version",
];

/** Of the base image's, `node` is 1000:1000 and `dialout` is 20. */
const IDS = [
  [1000, 5432],
  [501, 20],
  [4321, 5432],
] as const;
const imageWith = (uid: number, gid: number): string => `${IMAGE}-${uid}-${gid}`;

const agent = agentRegistry[AGENT].create(agentRegistry[AGENT].exampleModel);

/** Packages come from this machine's own sources, which are in its network. */
const buildDefault = async (cwd: string, image: string, ...args: readonly string[]): Promise<void> => {
  const flags = ["--image-name", image, "--network", "host", "--build-arg", `BASE_IMAGE=${BASE}`];
  const { exitCode, stderr } = await runCli(["docker", "build-image", ...flags, ...args], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
};

const repositoryWithDockerfile = (installed?: AgentProvider): string => {
  const cwd = repositoryWithAgent(OBEDIENT_AGENT);
  mkdirSync(join(cwd, ".sanddune"));
  const text = dockerfileFor({ templateText, agent: installed, backlogTools: [] });
  writeFileSync(join(cwd, ".sanddune/Dockerfile"), text);
  return cwd;
};

describeWith(["docker", "node 22"], "the default Dockerfile in docker", () => {
  beforeAll(() => buildNodeImage("docker", BASE));
  afterAll(() => {
    spawnSync("docker", [
      "image",
      "rm",
      "--force",
      IMAGE,
      ...IDS.map(([uid, gid]) => imageWith(uid, gid)),
      BASE,
    ]);
  });

  test("builds an image whose agent and tools every user can use, and a whole run in it brings back a commit", async () => {
    const cwd = repositoryWithDockerfile(agent);
    await buildDefault(cwd, IMAGE);

    const { dockerfile = [], versionCommand = [] } = agent.installation ?? {};
    const [, version = "none"] = /@(\d[\w.]*)$/.exec(dockerfile.at(-1) ?? "") ?? [];
    const askAll = [
      "export HOME=$(mktemp -d)",
      "node --version",
      ...TOOLS.map((tool) => `${tool} >/dev/null`),
      versionCommand.map(shellQuote).join(" "),
    ].join(" && ");
    for (const user of [`${process.getuid?.()}:${process.getgid?.()}`, "12345:12345"]) {
      const answers = inImage("docker", IMAGE, askAll, user);
      expect(answers).toMatch(/^v22\./);
      expect(answers).toContain(version);
    }
    expect(inImage("docker", IMAGE, "id -u; id -un; echo ~; touch ~/file && echo writable", "agent")).toBe(
      "1000\nagent\n/home/agent\nwritable",
    );

    const flags = ["--agent-command", "sh ./agent.sh", "--sandbox", "docker", "--image-name", IMAGE];
    const run = await runCli(["run", ...flags, "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
    expect(leftovers(cwd)).toEqual([]);
  }, 240_000);

  test("gives the user the ids that are asked for, of which the base image has one, the other or none", async () => {
    const cwd = repositoryWithDockerfile();
    for (const [uid, gid] of IDS) {
      const args = ["--build-arg", `AGENT_UID=${uid}`, "--build-arg", `AGENT_GID=${gid}`];
      await buildDefault(cwd, imageWith(uid, gid), ...args);
      const ids = inImage("docker", imageWith(uid, gid), "id -u; id -g; id -un; stat -c %u:%g ~", "agent");
      expect(ids).toBe(`${uid}\n${gid}\nagent\n${uid}:${gid}`);
    }
  }, 120_000);
});

/** What the Dockerfile names as its base, as Podman finds it on this machine. */
const OFFICIAL = "localhost/node:22-bookworm";

describeWith(["podman"], "the default Dockerfile in podman", () => {
  afterAll(() => {
    spawnSync("podman", ["image", "rm", "--force", IMAGE, OFFICIAL]);
  });

  test("is built by init, and the command line takes the image for granted from then on", async () => {
    // The tests' own Podman has no network for packages, and init has no flag for one, since everybody else's has.
    const base = `FROM ${TEST_IMAGE}\nRUN ln -s /bin/true /usr/local/bin/apt-get\n`;
    execFileSync("podman", ["build", "--quiet", "--tag", OFFICIAL, "-"], { input: base });
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const answers = ["--agent-command", "sh ./agent.sh", "--sandbox", "podman", "--template", "blank"];
    const made = await runCli(["init", ...answers, "--image-name", IMAGE, "--json"], { cwd });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(made.stdout)).toMatchObject({ imageName: IMAGE, built: true });
    expect(inImage("podman", IMAGE, "id -un; pwd", "agent")).toBe("agent\n/home/agent");
    const run = await runCli(["run", "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  });
});

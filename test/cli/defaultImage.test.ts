import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentName, agentRegistry } from "../../src/agents/registry.ts";
import { dockerfileFor } from "../../src/images/dockerfile.ts";
import { shellQuote } from "../../src/process/shellQuote.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { buildNodeImage } from "../helpers/nodeImage.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "./fixtures.ts";
import { type Engine, inImage } from "./imageScenes.ts";
import { runCli } from "./startCli.ts";

const templateText = readFileSync(join(import.meta.dirname, "../../templates/Dockerfile"), "utf8");

const BASE = `sanddune-test-node:${randomBytes(4).toString("hex")}`;
const IMAGE = BASE.replace("-test-node", "");
/** All of them in one image: each alone would take as long as all together. */
const AGENTS: readonly AgentName[] = ["claude-code", "codex", "opencode", "pi"];
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
  [1000, 20],
  [501, 20],
  [4321, 1000],
  [4321, 5432],
] as const;
const imageWith = (uid: number, gid: number): string => `${IMAGE}-${uid}-${gid}`;

const providerOf = (name: AgentName) => agentRegistry[name].create(agentRegistry[name].exampleModel);
const linesOf = (name: AgentName): readonly string[] => providerOf(name).installation?.dockerfile ?? [];

const dockerfile = (agents: readonly AgentName[]): string => {
  const [first, ...others] = agents;
  return dockerfileFor({
    templateText,
    agent: first && providerOf(first),
    backlogTools: others.flatMap(linesOf),
  });
};

/** Packages come from this machine's own sources, which are in its network. */
const buildDefault = async (
  engine: Engine,
  { cwd, image, args }: { readonly cwd: string; readonly image: string; readonly args: readonly string[] },
): Promise<void> => {
  const flags = ["--image-name", image, "--network", "host", "--build-arg", `BASE_IMAGE=${BASE}`];
  const { exitCode, stderr } = await runCli([engine, "build-image", ...flags, ...args], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
};

const repositoryWithDockerfile = (agents: readonly AgentName[]): string => {
  const cwd = repositoryWithAgent(OBEDIENT_AGENT);
  mkdirSync(join(cwd, ".sanddune"));
  writeFileSync(join(cwd, ".sanddune/Dockerfile"), dockerfile(agents));
  return cwd;
};

describeWith(["docker", "claude code"], "the default Dockerfile in docker", () => {
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

  test("builds an image whose agents and tools every user can use, and a whole run in it brings back a commit", async () => {
    const cwd = repositoryWithDockerfile(AGENTS);
    await buildDefault("docker", { cwd, image: IMAGE, args: [] });

    const versionOf = (name: AgentName) => /@(\d[\w.]*)$/.exec(linesOf(name).at(-1) ?? "")?.[1] ?? "";
    const askAll = [
      "export HOME=$(mktemp -d)",
      "node --version",
      ...TOOLS.map((tool) => `${tool} >/dev/null`),
      ...AGENTS.map((name) => providerOf(name).installation?.versionCommand.map(shellQuote).join(" ")),
    ].join(" && ");
    for (const user of [`${process.getuid?.()}:${process.getgid?.()}`, "12345:12345"]) {
      const answers = inImage("docker", IMAGE, askAll, user);
      expect(answers).toMatch(/^v22\./);
      for (const name of AGENTS) expect(answers).toContain(versionOf(name));
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
    const cwd = repositoryWithDockerfile([]);
    for (const [uid, gid] of IDS) {
      const args = ["--build-arg", `AGENT_UID=${uid}`, "--build-arg", `AGENT_GID=${gid}`];
      await buildDefault("docker", { cwd, image: imageWith(uid, gid), args });
      const ids = inImage("docker", imageWith(uid, gid), "id -u; id -g; id -un; stat -c %u:%g ~", "agent");
      expect(ids).toBe(`${uid}\n${gid}\nagent\n${uid}:${gid}`);
    }
  }, 120_000);
});

/** What the Dockerfile names as its base, as Podman finds it on this machine. */
const OFFICIAL = "localhost/node:22-bookworm";

/** The tests' own Podman has no network; init has no flag for one, since everybody else's has. */
const configurationWithNetwork = (): string => {
  const path = join(temporaryDirectory(), "containers.conf");
  const usual = readFileSync(process.env["CONTAINERS_CONF"] ?? "", "utf8");
  writeFileSync(path, usual.replace('netns = "none"', 'netns = "host"'));
  return path;
};

describeWith(["podman", "claude code"], "the default Dockerfile in podman", () => {
  beforeAll(() => buildNodeImage("podman", BASE));
  afterAll(() => {
    spawnSync("podman", ["image", "rm", "--force", IMAGE, OFFICIAL, BASE]);
  });

  test("builds an image in which a whole run brings back a commit", async () => {
    const cwd = repositoryWithDockerfile([]);
    await buildDefault("podman", { cwd, image: IMAGE, args: [] });
    expect(inImage("podman", IMAGE, "id -un; node --version", "agent")).toMatch(/^agent\nv22\./);
    const flags = ["--agent-command", "sh ./agent.sh", "--sandbox", "podman", "--image-name", IMAGE];
    const run = await runCli(["run", ...flags, "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  }, 180_000);

  test("is built by init, and the command line takes the image for granted from then on", async () => {
    spawnSync("podman", ["tag", BASE, OFFICIAL]);
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const answers = ["--agent-command", "sh ./agent.sh", "--sandbox", "podman", "--template", "blank"];
    const made = await runCli(["init", ...answers, "--image-name", IMAGE, "--json"], {
      cwd,
      env: { CONTAINERS_CONF: configurationWithNetwork() },
    });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(made.stdout)).toMatchObject({ imageName: IMAGE, built: true });
    const run = await runCli(["run", "--branch", "b", "--prompt", "Fix it", "--json"], { cwd });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  }, 180_000);
});

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentName, agentRegistry } from "../../src/agents/registry.ts";
import { parseEnvFile } from "../../src/envVars/envFile.ts";
import { type AgentAnswer, COMMAND_AGENT, type InitAnswers } from "../../src/init/answers.ts";
import { type BacklogManagerName, backlogManagers } from "../../src/init/backlogManagers.ts";
import { type SandboxChoiceName, sandboxChoices } from "../../src/init/sandboxChoices.ts";
import { type ScaffoldProject, scaffoldFor } from "../../src/init/scaffold.ts";
import { TEMPLATE_ARGUMENTS } from "../../src/init/templateArguments.ts";
import { type TemplateName, templates } from "../../src/init/templates.ts";
import { readProjectConfig } from "../../src/project/config.ts";
import { parseTemplate } from "../../src/prompt/promptTemplate.ts";
import { substituteArguments } from "../../src/prompt/resolvePrompt.ts";
import { builtCli } from "../helpers/built.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const ROOT = join(import.meta.dirname, "../..");

const AGENTS: AgentAnswer[] = [
  ...(Object.keys(agentRegistry) as AgentName[]).map((agent) => ({
    agent,
    model: agentRegistry[agent].exampleModel,
  })),
  { agent: COMMAND_AGENT, agentCommand: `sh -c 'echo "{{AGENT}}" $1 \\ \`date\`'` },
];
const SANDBOXES = Object.keys(sandboxChoices) as SandboxChoiceName[];
const BACKLOGS = Object.keys(backlogManagers) as BacklogManagerName[];
const TEMPLATES = Object.keys(templates) as TemplateName[];

const imageOf = (sandbox: SandboxChoiceName) => sandboxChoices[sandbox].imageFile && "sanddune:my-app";

/** Every scaffold that there can be. */
const ALL: InitAnswers[] = AGENTS.flatMap((agent) =>
  SANDBOXES.flatMap((sandbox) =>
    BACKLOGS.flatMap((backlog) =>
      TEMPLATES.filter((template) => backlog === "none" || templates[template].hasTasks).map((template) => ({
        ...agent,
        sandbox,
        backlog,
        template,
        imageName: imageOf(sandbox),
      })),
    ),
  ),
);

const SIMPLE: InitAnswers = {
  agent: "claude-code",
  model: "claude-opus-4-8",
  sandbox: "docker",
  backlog: "none",
  template: "blank",
  imageName: "sanddune:my-app",
};

const COMMON: ScaffoldProject = { isModulePackage: false, packageManager: "npm", dependencies: undefined };
const MODULE: ScaffoldProject = { ...COMMON, isModulePackage: true };

const WITH_PACKAGES: ScaffoldProject = {
  ...MODULE,
  dependencies: {
    packageManager: "npm",
    version: undefined,
    hasLockFile: true,
    directories: ["node_modules"],
  },
};

const BUILT_IN = ["SOURCE_BRANCH", "TARGET_BRANCH"];

describe("every scaffold", () => {
  it("has no template argument left, and only placeholders that its main file fills in", () => {
    for (const answers of ALL) {
      const scaffold = scaffoldFor(answers, MODULE);
      const main = scaffold["main.ts"] ?? "";
      for (const [name, text] of Object.entries(scaffold)) {
        if (name === "main.ts" || name === "config.json") continue;
        const keys = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, key = ""]) => key);
        for (const key of keys.filter((key) => !BUILT_IN.includes(key)))
          expect(main, `${name} of ${answers.template}`).toContain(`${key}: `);
      }
      if (answers.agent !== COMMAND_AGENT)
        for (const key of TEMPLATE_ARGUMENTS) expect(JSON.stringify(scaffold)).not.toContain(`{{${key}}}`);
    }
  });

  it("has prompts that a run can resolve, with the commands of the backlog manager as shell expressions", () => {
    const own = { TASK_ID: "bd-a1.2", TASK_TITLE: "A title", BRANCHES: "- a" };
    const builtIns = { SOURCE_BRANCH: "agent/task-1", TARGET_BRANCH: "main" };
    for (const answers of ALL) {
      const { listCommand, viewCommand } = backlogManagers[answers.backlog];
      const expressions = Object.entries(scaffoldFor(answers, MODULE))
        .filter(([name]) => name.endsWith("prompt.md"))
        .map(([promptFile, text]) => ({ promptFile, template: parseTemplate(text) }))
        .flatMap((prompt) => substituteArguments(prompt, own, builtIns).parts)
        .flatMap((part) => (typeof part === "string" ? [] : [part.source]));
      const asksForTasks = expressions.some((source) =>
        [listCommand, viewCommand].some((command) => source.includes(command)),
      );
      expect(asksForTasks, answers.template).toBe(templates[answers.template].hasTasks);
    }
  });

  it("has exactly the prompts that its main file names", () => {
    for (const answers of ALL) {
      const scaffold = scaffoldFor(answers, MODULE);
      const named = [...(scaffold["main.ts"] ?? "").matchAll(/promptFile: "\.sanddune\/(.+?)"/g)].map(
        ([, name]) => name,
      );
      const prompts = Object.keys(scaffold).filter((name) => name.endsWith("prompt.md"));
      expect(named.sort()).toEqual(prompts.sort());
    }
  });

  it("has a config file that the command line understands, with the answers in it", () => {
    const directory = temporaryDirectory();
    for (const answers of ALL) {
      writeFileSync(join(directory, "config.json"), scaffoldFor(answers, COMMON)["config.json"] ?? "");
      const { template: _, ...expected } = answers;
      const $schema = "../node_modules/@missingstudio/sanddune/schemas/config.schema.json";
      expect(readProjectConfig(directory)).toEqual({ $schema, ...expected });
    }
  });

  it("names the env vars that its agent and its backlog manager read, and gives none a value", () => {
    for (const answers of ALL) {
      const env = parseEnvFile(scaffoldFor(answers, COMMON)[".env.example"] ?? "");
      const agent = answers.agent === COMMAND_AGENT ? undefined : agentRegistry[answers.agent];
      const provider = agent?.create((answers as { model: string }).model);
      const expected = new Set([
        ...Object.keys(provider?.env ?? {}),
        ...(provider?.installation?.credentials ?? []),
        ...Object.keys(backlogManagers[answers.backlog].envVars),
      ]);
      expect(Object.keys(env).sort()).toEqual([...expected].sort());
      expect(Object.values(env).join("")).toBe("");
    }
  });

  it("has a main file that the compiler accepts", () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
    const distinct = new Set(ALL.map((answers) => scaffoldFor(answers, MODULE)["main.ts"] ?? ""));
    const preparing = TEMPLATES.flatMap((template) =>
      SANDBOXES.map(
        (sandbox) =>
          scaffoldFor({ ...SIMPLE, template, sandbox, imageName: imageOf(sandbox) }, WITH_PACKAGES)[
            "main.ts"
          ] ?? "",
      ),
    );
    // A command in bubblewrap has a network only if its tasks are on it.
    const withTasks = TEMPLATES.filter((template) => templates[template].hasTasks);
    expect(distinct.size).toBe(AGENTS.length * SANDBOXES.length * TEMPLATES.length + withTasks.length);
    [...distinct, ...preparing].forEach((main, index) => {
      mkdirSync(join(directory, `${index}`));
      writeFileSync(join(directory, `${index}/main.ts`), main);
    });
    // So that a compiler that looks at nothing is noticed.
    mkdirSync(join(directory, "wrong"));
    writeFileSync(join(directory, "wrong/main.ts"), 'import { run } from "@missingstudio/sanddune"; run(7);');
    const declarations = dirname(builtCli());
    const paths = {
      "@missingstudio/sanddune": [join(declarations, "index.d.ts")],
      "@missingstudio/sanddune/sandboxes/*": [join(declarations, "sandboxes/*.d.ts")],
    };
    const compilerOptions = { paths, typeRoots: [join(ROOT, "node_modules/@types")] };
    writeFileSync(
      join(directory, "tsconfig.json"),
      JSON.stringify({ extends: join(ROOT, "tsconfig.json"), include: ["*/main.ts"], compilerOptions }),
    );
    const { stdout } = spawnSync(
      process.execPath,
      [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", directory],
      { cwd: directory, encoding: "utf8" },
    );
    const complaints = stdout.split("\n").filter((line) => /^\S/.test(line));
    expect(complaints).toEqual([expect.stringMatching(/^wrong\/main\.ts\(/)]);
  });
});

it.each([
  [true, "main.ts"],
  [false, "main.mts"],
])("calls the main file so that Node takes it for a module (type module: %s)", (isModulePackage, name) => {
  const mains = Object.keys(scaffoldFor(SIMPLE, { ...COMMON, isModulePackage })).filter((file) =>
    file.startsWith("main"),
  );
  expect(mains).toEqual([name]);
});

it.each([
  ["docker", ["Dockerfile", ".dockerignore"]],
  ["podman", ["Containerfile", ".containerignore"]],
  ["bubblewrap", []],
] as const)("has what an image of %s is built from", (sandbox, expected) => {
  const files = Object.keys(scaffoldFor({ ...SIMPLE, sandbox, imageName: undefined }, COMMON));
  expect(files.filter((name) => /file$|ignore$/.test(name) && name !== ".gitignore").sort()).toEqual(
    [...expected].sort(),
  );
});

it("installs the agent and what the backlog manager needs in the image", () => {
  const dockerfile = scaffoldFor({ ...SIMPLE, backlog: "beads" }, COMMON)["Dockerfile"];
  expect(dockerfile).toContain("npm install --global @anthropic-ai/claude-code@");
  expect(dockerfile).toContain("npm install --global @beads/bd@");
});

it.each([
  ["simple-loop", "none", true],
  ["simple-loop", "github-issues", false],
  ["blank", "none", false],
] as const)("has a list of tasks where one is asked for: %s, %s", (template, backlog, hasTasks) => {
  expect("tasks.md" in scaffoldFor({ ...SIMPLE, template, backlog }, COMMON)).toBe(hasTasks);
});

it("gives an agent in bubblewrap a network if its model or its tasks are on it", () => {
  const main = (agent: AgentAnswer, backlog: BacklogManagerName) =>
    scaffoldFor(
      { ...SIMPLE, ...agent, template: "simple-loop", backlog, sandbox: "bubblewrap", imageName: undefined },
      MODULE,
    )["main.ts"];
  const script = { agent: "command", agentCommand: "sh ./agent.sh" } as const;
  expect(main({ agent: "codex", model: "gpt-6-sol" }, "none")).toContain("bubblewrap({ network: true })");
  expect(main(script, "github-issues")).toContain("bubblewrap({ network: true })");
  expect(main(script, "beads")).toContain("bubblewrap()");
  expect(main(script, "none")).toContain("bubblewrap()");
});

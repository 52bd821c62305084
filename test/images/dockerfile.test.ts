import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentRegistry } from "../../src/agents/registry.ts";
import { dockerfileFor } from "../../src/images/dockerfile.ts";

const templateText = readFileSync(join(import.meta.dirname, "../../templates/Dockerfile"), "utf8");
const COMMON = { templateText, buildCommand: "npx sanddune docker build-image", packageManager: [] };
const BACKLOGS = [[], ["RUN npm install --global backlog-tool@1.0.0"]];

for (const [name, { create, exampleModel }] of Object.entries(agentRegistry)) {
  for (const backlogTools of BACKLOGS) {
    test(`the Dockerfile of ${name} with ${backlogTools.length} lines for the backlog is complete`, () => {
      const agent = create(exampleModel);
      const text = dockerfileFor({ ...COMMON, agent, backlogTools });
      const lines = [...(agent.installation?.dockerfile ?? []), ...backlogTools];
      expect(text).not.toContain("{{");
      expect(text).not.toContain("\n\n\n");
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(text).toContain(`\n${line}\n`);
      // Programs are installed by root, for everybody.
      expect(text.indexOf(lines.at(-1) ?? "")).toBeLessThan(text.indexOf("\nUSER agent\n"));
    });
  }
}

test("an agent that is a command of the user's own leaves no gap in the Dockerfile", () => {
  const text = dockerfileFor({ ...COMMON, agent: undefined, backlogTools: [] });
  expect(text).not.toContain("{{");
  expect(text).not.toContain("\n\n\n");
  expect(text).not.toContain("npm install");
});

test("the Dockerfile begins with how it is built, and installs the package manager before the agent", () => {
  const agent = agentRegistry["claude-code"].create("claude-opus-4-8");
  const packageManager = ["RUN npm install --global pnpm@10.1.0"];
  const text = dockerfileFor({ ...COMMON, packageManager, agent, backlogTools: [] });
  expect(text).toMatch(/^#.*\n# {3}npx sanddune docker build-image\n/);
  expect(text.indexOf("pnpm@10.1.0")).toBeGreaterThan(0);
  expect(text.indexOf("pnpm@10.1.0")).toBeLessThan(text.indexOf("@anthropic-ai/claude-code"));
});

test("the Dockerfile says what must stay, whatever else is changed", () => {
  const text = dockerfileFor({ ...COMMON, agent: undefined, backlogTools: [] });
  const rules = /What must stay:\n(?:#.*\n)+/.exec(text)?.[0] ?? "";
  for (const word of ["not root", "git", "gh", "agent's own program", "PATH", "sh, env and grep"]) {
    expect(rules).toContain(word);
  }
});

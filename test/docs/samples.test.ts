import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { stop, transformSync } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { scaffoldFor } from "../../src/init/scaffold.ts";
import { type TemplateName, templates } from "../../src/init/templates.ts";
import { AGENTS, describeWith } from "../helpers/runtimes/runtimes.ts";
import { samples } from "../helpers/samples.ts";

const scaffolds = (): [string, string][] =>
  (Object.keys(templates) as TemplateName[]).map((template) => {
    const answers = { sandbox: "bubblewrap", backlog: "none", imageName: undefined, template } as const;
    const agent = { agent: "command", agentCommand: "sh ./agent.sh" } as const;
    const project = { isModulePackage: true, packageManager: "npm", dependencies: undefined } as const;
    return [template, scaffoldFor({ ...answers, ...agent }, project)["main.ts"] ?? ""];
  });

/** Whatever a reader copies into a file and starts with `node`. */
const programs = (): [string, string][] => [...samples(), ...scaffolds()];

describe("the samples of the documents and the programs of the templates", () => {
  // It would keep a process until the end of the test file.
  afterAll(() => stop());

  it("have no resource declarations, which Node knows from version 24 on only", () => {
    const lowered = programs().filter(([, code]) =>
      /\b__using\b/.test(transformSync(code, { loader: "ts", target: "node22" }).code),
    );
    expect(lowered.map(([name]) => name)).toEqual([]);
    // So that a compiler that writes it otherwise is noticed.
    expect(transformSync("await using a = b();", { loader: "ts", target: "node22" }).code).toContain(
      "__using",
    );
  });
});

/** Takes the types away and parses the rest, as `node file.mts` does. */
const PARSER = `
const { stripTypeScriptTypes } = require("node:module");
const { SourceTextModule } = require("node:vm");
const programs = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const problems = programs.flatMap(([name, code]) => {
  try {
    new SourceTextModule(stripTypeScriptTypes(code));
    return [];
  } catch (error) {
    return [name + ": " + error.message];
  }
});
console.log(JSON.stringify(problems));
`;

describeWith(["node 22"], "Node 22", () => {
  it("parses the samples of the documents and the programs of the templates", () => {
    const wrong: [string, string] = ["wrong", "await using a = b();"];
    const { stdout } = spawnSync(
      join(AGENTS, "bin/node22"),
      ["--disable-warning=ExperimentalWarning", "--experimental-vm-modules", "--eval", PARSER],
      { input: JSON.stringify([...programs(), wrong]), encoding: "utf8" },
    );
    expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^wrong: /)]);
  });
});

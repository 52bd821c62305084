import { describe, expect, it } from "vitest";
import { promptFor } from "../../../src/scenarios/agents/prompts.ts";

const SITE = "https://product.example/";
const MIRROR = "http://127.0.0.1:4321";
const suite = { productName: "Archway", siteUrl: SITE };
const NOTE = `For this sandbox run, fetch source files from ${MIRROR} instead of the public site.`;

describe("the prompt of an agent's step", () => {
  it.each([
    ["install", "https://product.example/install/SKILL.md"],
    ["update", "https://product.example/install/update.md"],
    ["sync", "https://product.example/install/sync.md"],
    ["uninstall", "https://product.example/install/uninstall.md"],
  ])("for %s names the product, and where its instructions are", (agent, url) => {
    const prompt = promptFor({ agent }, { suite, baseUrl: undefined, usesMirror: false });
    expect(prompt).toContain(`${url} `);
    expect(prompt).toContain("Archway");
    expect(prompt).not.toContain("For this sandbox run");
  });

  it("for boot is a greeting", () => {
    expect(promptFor({ agent: "boot" }, { suite, baseUrl: undefined, usesMirror: false })).toBe("hi archway");
  });

  it.each(["audit", "constructor"])("for the unknown word %s says that word", (agent) => {
    expect(promptFor({ agent }, { suite, baseUrl: undefined, usesMirror: false })).toBe(
      `Run the "${agent}" workflow of Archway in this project.`,
    );
  });

  it("is the suite's own, if that has one", () => {
    const own = { ...suite, prompts: { install: "Install it like so." } };
    expect(promptFor({ agent: "install" }, { suite: own, baseUrl: undefined, usesMirror: false })).toBe(
      "Install it like so.",
    );
  });

  it("is the step's own before all else", () => {
    const own = { ...suite, prompts: { install: "Install it like so." } };
    const step = { agent: "install", prompt: "Mine." };
    expect(promptFor(step, { suite: own, baseUrl: undefined, usesMirror: false })).toBe("Mine.");
  });

  it.each([{ agent: "install" }, { agent: "boot" }, { agent: "install", prompt: "Mine." }])(
    "ends with where to fetch from, while a mirror runs: %j",
    (step) => {
      const prompt = promptFor(step, { suite, baseUrl: MIRROR, usesMirror: true });
      expect(prompt.endsWith(`\n\nNote: ${NOTE}`)).toBe(true);
    },
  );

  it("is about another address if one was given, which is no mirror", () => {
    const baseUrl = "https://staging.example/";
    const prompt = promptFor({ agent: "install" }, { suite, baseUrl, usesMirror: false });
    expect(prompt).toContain("https://staging.example/install/SKILL.md ");
    expect(prompt).not.toContain("For this sandbox run");
  });

  it("names the mirror's instructions for a product without a site", () => {
    const prompt = promptFor({ agent: "install" }, { suite: {}, baseUrl: MIRROR, usesMirror: true });
    expect(prompt).toContain(`${MIRROR}/install/SKILL.md`);
    expect(prompt).toContain(NOTE);
  });
});

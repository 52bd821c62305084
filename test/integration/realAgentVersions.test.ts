import { expect, it } from "vitest";
import {
  type AgentProvider,
  claudeCode,
  codex,
  copilot,
  createSandbox,
  gemini,
  opencode,
  pi,
} from "../../src/index.ts";
import { shellQuote } from "../../src/process/shellQuote.ts";
import { AGENT_PATH, type OfflineAgentName, pinnedPackage } from "../helpers/agents.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { SANDBOXES } from "./realAgents.ts";

const AGENTS: Readonly<Record<OfflineAgentName, AgentProvider>> = {
  claude: claudeCode("m"),
  codex: codex("m"),
  opencode: opencode("a/m"),
  pi: pi("a/m"),
  gemini: gemini("m"),
  copilot: copilot("m"),
};

describeWith(
  ["claude code", "codex", "opencode", "pi", "gemini", "copilot", "bubblewrap"],
  "what an agent provider says about its installation",
  () => {
    it("is the version that the tests are made with, and a command that tells it", async () => {
      await using sandbox = await createSandbox({
        branch: "versions",
        sandbox: SANDBOXES.bubblewrap(),
        cwd: temporaryRepository(),
        env: { PATH: { public: AGENT_PATH } },
      });
      for (const [name, { installation }] of Object.entries(AGENTS)) {
        const pinned = pinnedPackage(name as OfflineAgentName);
        expect(installation?.dockerfile).toEqual([`RUN npm install --global ${pinned}`]);
        const { stdout, stderr } = await sandbox.exec(
          (installation?.versionCommand ?? []).map(shellQuote).join(" "),
        );
        expect(stdout + stderr).toContain(pinned.split("@").at(-1));
      }
    }, 180_000);
  },
);

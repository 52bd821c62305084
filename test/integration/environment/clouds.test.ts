import { describe, expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import type { IsolatedSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { CLOUDS, type CloudService } from "../../helpers/cloud/clouds.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { modalServer } from "../../sandboxes/modal/scene.ts";

/** Asks the test server as an agent would that cannot be given tools. */
const ASK = `node --input-type=module -e '
const { SANDDUNE_TESTS_URL: url, SANDDUNE_TESTS_TOKEN: token } = process.env;
const response = await fetch(url + "/run", { method: "POST", headers: { authorization: "Bearer " + token } });
const { passed, total } = await response.json();
console.log(passed + " of " + total);
'`;

const write = (text: string) => ({ commit: `Say ${text}`, files: { "hello.txt": `${text}\n` } });

/** The tests are in a second sandbox, which answers the agent and the run. */
const checkTests = async (sandbox: IsolatedSandboxProvider): Promise<void> => {
  const cwd = temporaryRepository();
  const printed: string[] = [];
  const { iterations, warnings } = await run({
    agent: scripted([write("goodbye"), { shell: ASK }, write("hello")]),
    sandbox,
    branchStrategy: { type: "branch", branch: "agent/work" },
    cwd,
    prompt: "Greet.",
    environment: greetingEnvironment(),
    until: "tests-pass",
    maxIterations: 3,
    logging: {
      type: "file",
      quiet: true,
      onAgentStreamEvent: (event) => {
        if (event.type === "toolResult") printed.push(event.output);
      },
    },
  });
  expect(printed).toEqual(["1 of 2"]);
  expect(iterations).toMatchObject([{ tests: { passed: 2, failed: 0, error: null } }]);
  expect(warnings).toEqual([]);
  expect(leftovers(cwd)).toEqual([]);
};

describe("an environment with the sandbox of a service", { timeout: 120_000 }, () => {
  const [{ provider, use }] = CLOUDS as [CloudService];
  const cloud = use();

  it("has its tests in a second sandbox, which answer the agent and the run: e2b", async () => {
    await checkTests(provider());
    expect(cloud().count()).toBe(0);
  });

  it("has its tests in a second sandbox, which answer the agent and the run: modal", async () => {
    const server = await modalServer();
    await checkTests(modal());
    expect(server.sandboxes.filter(({ result }) => result === undefined)).toEqual([]);
  });
});

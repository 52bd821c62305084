import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient, ENGINES, type EngineName } from "../containers/containers.ts";
import { openBindMount } from "../openSandbox.ts";

/** What loses a sandbox, and what the error then says. */
const losses: Record<string, { lose(engine: EngineName, sandbox: SandboxHandle): unknown; says: RegExp }> = {
  "its container is killed": {
    lose: (engine, { name }) => callClient(engine, "kill", name),
    says: /ended with exit code 137/,
  },
  "its container is removed": {
    lose: (engine, { name }) => callClient(engine, "rm", "--force", name),
    says: /no longer exists/,
  },
};

const failureOf = async (attempt: Promise<unknown>): Promise<SandboxLostError> => {
  const error = await attempt.then(
    (result) => result,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxLostError);
  return error as SandboxLostError;
};

for (const [engine, provider] of ENGINES) {
  describeWith([engine], `${engine} sandbox`, () => {
    test.each(Object.keys(losses))("is lost when %s", async (name) => {
      const loss = losses[name] as (typeof losses)[string];
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE }));
      try {
        let lost = false;
        const attempt = sandbox.exec("echo running; sleep 1000", {
          onLine: () => {
            if (lost) return;
            lost = true;
            loss.lose(engine, sandbox);
          },
        });
        expect((await failureOf(attempt)).problem).toMatch(loss.says);
        expect((await failureOf(sandbox.exec("true"))).message).toMatch(loss.says);
        await failureOf(sandbox.copyFileOut("/etc/passwd", join(temporaryDirectory(), "never-written")));
      } finally {
        await sandbox.close();
      }
    });

    test("is lost when its programs are deleted", async () => {
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE }));
      try {
        await sandbox.exec("rm -rf /bin /usr/bin", { sudo: true });
        const error = await failureOf(sandbox.exec("true"));
        expect(error.message).toMatch(/sh|env|executable|commands cannot be started/);
      } finally {
        await sandbox.close();
      }
    });

    test("running out of memory is reported, and is not the command's failure", async () => {
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE, memory: "64m" }));
      try {
        const error = await failureOf(sandbox.exec("tail /dev/zero"));
        expect(error.problem).toMatch(/memory of 64m was used up/);
        expect((await sandbox.exec("kill -9 $$")).exitCode).toBe(137);
      } finally {
        await sandbox.close();
      }
    });
  });
}

import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createStandaloneSandbox, ProcessTimeoutError, SandboxLostError } from "../../src/index.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { useOwnTemporaryDirectory } from "../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { describeWithCluster, failureOf, IMAGE, podExists } from "./cluster.ts";

useOwnTemporaryDirectory();

/** What is noted on the host about sandboxes that belong to no repository. */
const notes = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("sanddune-standalone-"));

describeWithCluster("a pod that belongs to no repository", () => {
  it("runs commands, and tells what became of them by name and in order", async () => {
    await using sandbox = await createStandaloneSandbox(kubernetes({ imageName: IMAGE }), {
      env: { OUTER: () => "outer" },
    });
    const [exitCode, stdout, stderr] = await sandbox.run("pwd -P; ls -A; echo err >&2; exit 3");
    expect([exitCode, stdout, stderr]).toEqual([3, `${sandbox.directory}\n`, "err\n"]);
    const result = await sandbox.run('cat; echo "$OUTER $INNER"', {
      env: { INNER: "inner" },
      stdin: "input\n",
    });
    expect({ ...result }).toMatchObject({ exitCode: 0, stdout: "input\nouter inner\n", stderr: "" });
  });

  it("takes and gives files, as text, as bytes and from the host", async () => {
    await using sandbox = await createStandaloneSandbox(kubernetes({ imageName: IMAGE, user: 1000 }));
    await sandbox.writeFile("made/on the way/text", "ünï☃😀\r\n");
    expect(await sandbox.readFile("made/on the way/text")).toBe("ünï☃😀\r\n");
    const bytes = Buffer.concat([Buffer.from([0, 255, 10, 13]), randomBytes(3_000_000)]);
    await sandbox.writeFile("bytes", bytes);
    expect(bytes.equals(await sandbox.readFileBytes("bytes"))).toBe(true);

    const host = temporaryDirectory();
    mkdirSync(join(host, "tree/inner"), { recursive: true });
    writeFileSync(join(host, "tree/inner/file"), "content", { mode: 0o755 });
    symlinkSync("inner/file", join(host, "tree/link"));
    await sandbox.copyIn(join(host, "tree"), "copied");
    await sandbox.copyIn(join(host, "tree/inner/file"), "alone");
    expect((await sandbox.run("cat alone copied/link; readlink copied/link")).stdout).toBe(
      "contentcontentinner/file\n",
    );
    await sandbox.copyFileOut("copied/inner/file", join(host, "out"));
    expect(readFileSync(join(host, "out"), "utf8")).toBe("content");
  });

  it("kills a command that takes too long, with its descendants, and can be used on", async () => {
    await using sandbox = await createStandaloneSandbox(kubernetes({ imageName: IMAGE }));
    const error = await failureOf(
      sandbox.run("cp /bin/sleep lasting; setsid ./lasting 100000 & ./lasting 100000", { timeoutMs: 3000 }),
    );
    expect(error).toBeInstanceOf(ProcessTimeoutError);
    const [, stdout] = await sandbox.run("ls lasting; grep -slx lasting /proc/[0-9]*/comm");
    expect(stdout).toBe("lasting\n");
  });

  it("is gone when it is terminated, with what ran in it and what was noted about it", async () => {
    const sandbox = await createStandaloneSandbox(kubernetes({ imageName: IMAGE }));
    const running = failureOf(sandbox.run("sleep 100000"));
    expect(await podExists(sandbox.name)).toBe(true);
    expect(notes()).toHaveLength(1);
    await sandbox.terminate();
    expect(await running).toBeInstanceOf(SandboxLostError);
    expect(await podExists(sandbox.name)).toBe(false);
    expect(notes()).toEqual([]);
    expect(await failureOf(sandbox.run("true"))).toBeInstanceOf(SandboxLostError);
    await sandbox.terminate();
  });
});

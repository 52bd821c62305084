import { expect, it } from "vitest";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { modalServer } from "../../sandboxes/modal/scene.ts";
import { runCli } from "../callCli.ts";
import { pathWithBroken } from "../fixtures.ts";

const AGENT = "cat >prompt.txt; git add .; git commit -qm Prompt";
const RUN = [
  "run",
  "--agent-command",
  AGENT,
  "--prompt",
  "Work",
  "--branch",
  "agent/work",
  "--sandbox",
  "modal",
];

it("sanddune run does the work at Modal, with what the flags say", async () => {
  const server = await modalServer();
  const cwd = temporaryRepository();
  const flags = ["--image-name", "debian:12", "--network", "none", "--cpus", "2", "--memory", "1g"];
  const { exitCode, stderr } = await runCli([...RUN, "--json", ...flags], { cwd });
  expect(exitCode, stderr).toBe(0);
  // The SDK warns of a connection that is not encrypted, but not on our terminal.
  expect(stderr).not.toMatch(/insecure|command router/i);
  expect(git(cwd, "show", "agent/work:prompt.txt")).toBe("Work");
  expect(server.builds).toEqual([["FROM debian:12"]]);
  expect(server.sandboxes[0]?.request.definition).toMatchObject({
    resources: { milliCpu: 2000, memoryMb: 1024 },
    networkAccess: { networkAccessType: 2 },
  });
  expect(server.running()).toEqual([]);
});

it("sanddune run refuses flags that mean nothing to Modal, and a network that it does not know", async () => {
  const server = await modalServer();
  const cwd = temporaryRepository();
  for (const flags of [
    ["--mount", "/etc:/etc"],
    ["--network", "host"],
  ]) {
    const { exitCode, stderr } = await runCli([...RUN, ...flags], { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(flags[0] as string),
    });
  }
  expect(server.calls).toEqual([]);
});

it("sanddune run says what is missing before anything is made", async () => {
  await modalServer();
  const cwd = temporaryRepository();
  const { exitCode, stderr } = await runCli(RUN, { cwd, env: { MODAL_TOKEN_SECRET: "" } });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("MODAL_TOKEN_ID is set, but MODAL_TOKEN_SECRET is missing");
  expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
});

it("sanddune doctor looks whether Modal answers, and makes nothing", async () => {
  const server = await modalServer();
  const examine = async (env: Record<string, string> = {}) => {
    const { stdout } = await runCli(["doctor", "--sandbox", "modal", "--json"], {
      cwd: temporaryRepository(),
      env: { ...env, PATH: pathWithBroken("docker", "podman", "bwrap") },
    });
    return stdout;
  };
  expect(await examine()).toMatch(/"modal"[^}]*"ok"|"ok"[^}]*"modal"/);
  expect(await examine({ MODAL_TOKEN_ID: "ak-of-nobody" })).toContain("Modal refuses the credentials");
  expect(server.sandboxes).toEqual([]);
});

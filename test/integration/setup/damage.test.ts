import { mkdirSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { docker } from "../../../src/sandboxes/docker.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, locksOf, shell, worktreesOf } from "../../security/support.ts";
import { drafts, imagesOf, kept, setupHook, setupScene } from "./scene.ts";

const INDEX = "/sanddune/git/index";

describeWith(["bubblewrap"], "the result of hooks is not kept, and the agent works all the same", () => {
  it.each([
    ["deleted it", ""],
    ["made it a link to a file of the host", `ln -s /etc/passwd ${INDEX}`],
    ["made it a directory", `mkdir ${INDEX}`],
    ["wrote garbage into it", `echo garbage > ${INDEX}`],
    ["made it a sparse file, which would fill the host's disk", `truncate -s 300M ${INDEX}`],
    ["made it a named pipe, for which the host would wait for ever", `mkfifo ${INDEX}`],
  ])("if a hook spoilt git's index: %s", async (_, spoil) => {
    const { cwd, count, run } = setupScene();
    const hooks = setupHook(count, { after: `rm ${INDEX}\n${spoil}` });
    const result = await run({ hooks }, [shell(`rm -rf ${INDEX}; git reset --quiet`)]);
    expect(result).toMatchObject({
      commits: [{}],
      warnings: [expect.stringContaining("is not kept: a hook left an index that git cannot read")],
    });
    expect([kept(cwd), drafts(cwd)]).toEqual([[], []]);
  });

  it("if the host refuses to write it", async () => {
    const { cwd, count, run } = setupScene();
    const cache = join(cwd, ".git/sanddune/setups");
    const host = { onWorktreeReady: [{ command: `rm -rf ${cache}; touch ${cache}` }] };
    const result = await run({ hooks: { ...setupHook(count), host } });
    expect(result).toMatchObject({
      commits: [{}],
      warnings: [expect.stringMatching(/The result of the hooks could not be kept: .*ENOTDIR/)],
    });
    rmSync(cache);
  });
});

for (const name of ["bubblewrap", "docker"] as const) {
  describeWith([name], `an abort while a set-up is kept (${name})`, () => {
    it("leaves nothing of it", async () => {
      const { cwd, count, run } = setupScene();
      const cache = join(cwd, ".git/sanddune/setups");
      mkdirSync(cache, { recursive: true, mode: 0o700 });
      const controller = new AbortController();
      const reason = new Error("enough");
      const watcher = watch(cache, (_, name) => name?.startsWith(".draft") && controller.abort(reason));
      const running = run({
        ...(name === "docker" && { sandbox: docker({ imageName: TEST_IMAGE, mounts: count.mounts }) }),
        hooks: setupHook(count, { files: 3000 }),
        signal: controller.signal,
      });
      expect(await failureOf(running)).toBe(reason);
      watcher.close();
      expect([kept(cwd), drafts(cwd), locksOf(cwd)]).toEqual([[], [], []]);
      if (name === "docker") expect(imagesOf(cwd)).toEqual([]);
      expect(worktreesOf(cwd)).toHaveLength(1);
    });
  });
}

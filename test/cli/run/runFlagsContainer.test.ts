import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { subjectsOf } from "../fixtures.ts";

/** What a container is, as the agent in it sees it. */
const REPORT = `
git commit --quiet --allow-empty -m 'Made in a container'
cat /proc/sys/kernel/hostname /mounted/file
ls /sys/class/net
limit() { cat "/sys/fs/cgroup/$1" "/sys/fs/cgroup/$2" 2>/dev/null | cut -d ' ' -f 1; }
limit memory.max memory/memory.limit_in_bytes
limit pids.max pids/pids.max
limit cpu.max cpu/cpu.cfs_quota_us
grep -i ^CapPrm /proc/self/status
id -u
`;

for (const engine of ["docker", "podman"] as const) {
  describeWith([engine], `flags of sanddune run for ${engine}`, () => {
    it("reach the container, whose commits reach the repository", async () => {
      const cwd = temporaryRepository();
      const directory = temporaryDirectory();
      mkdirSync(join(directory, "mounted"));
      writeFileSync(join(directory, "mounted/file"), "from the host\n");
      const { exitCode, stdout, stderr } = await runCli(
        [
          ...["run", "--agent-command", REPORT, "--sandbox", engine, "--image-name", TEST_IMAGE],
          ...["--branch", "b", "--prompt", "Work", "--json"],
          ...[
            "--mount",
            `${directory}/mounted:/mounted:ro`,
            "--network",
            "none",
            "--memory",
            "256m",
            "--pids",
            "100",
            "--cpus",
            "0.5",
            "--user",
            "0:0",
          ],
          ...[
            "--capability",
            "NET_BIND_SERVICE",
            "--engine-arg",
            "--hostname",
            "--engine-arg",
            "made-by-flags",
          ],
        ],
        { cwd },
      );
      expect(stderr).not.toContain("error");
      expect(JSON.parse(stdout).stdout.split("\n")).toEqual([
        "made-by-flags",
        "from the host",
        "lo",
        String(256 * 1024 * 1024),
        "100",
        "50000",
        expect.stringMatching(/^CapPrm:\s+0*400$/),
        "0",
        "",
      ]);
      expect(exitCode).toBe(0);
      expect(subjectsOf(cwd, "b")[0]).toBe("Made in a container");
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

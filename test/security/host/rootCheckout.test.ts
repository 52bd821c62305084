import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { bundle } from "../../helpers/bundle.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const LIBRARIES = ["lib", "lib64", "bin"].flatMap((name) => ["--ro-bind-try", `/${name}`, `/${name}`]);

describeWith(["bubblewrap"], "a machine whose root directory is a checkout", () => {
  it("keeps its programs, which are all in that checkout", () => {
    const directory = temporaryDirectory();
    const program = bundle(join(import.meta.dirname, "rootCheckoutProgram.ts"), directory);
    const node = dirname(process.execPath);
    const places = ["/usr", node, directory].flatMap((path) => ["--ro-bind", path, path]);
    const args = [...places, ...LIBRARIES, "--dir", "/.git", "--chdir", directory, process.execPath, program];
    const env = { PATH: "/usr/bin:/bin", HOME: directory };
    const bwrap = execFileSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim();
    expect(execFileSync(bwrap, args, { encoding: "utf8", env }).trim()).toBe(env.PATH);
  });
});

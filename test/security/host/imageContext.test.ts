import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import {
  ENGINES,
  freshImageName,
  hasImage,
  inImage,
  labelledFrom,
  repositoryWith,
} from "../../cli/image/scenes.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

const SECRET = "not-for-any-image-4711";
const FIND_SECRET = `grep -rl ${SECRET} /context || true`;

/** What agents could commit beside a Dockerfile to get the env file into its image. All of it begins by keeping it out. */
const READMISSIONS = [
  ".sanddune\n!./.sanddune/.env\n",
  ".sanddune/*\n!.//.sanddune/.env\n",
  ".sanddune\n! .sanddune/.env\n",
  ".sanddune\n! /.sanddune/.env\n",
  ".sanddune\n!a/../.sanddune/.env\n",
  ".sanddune\n!\\.sanddune\n",
  ".sanddune\n!.sanddune\\/.env\n",
  ".sanddune\n![.]sanddune/.env\n",
  ".sanddune\r\n!.sanddune/.env\r\n",
  ".sanddune\n!.\n",
  "\ufeff.sanddune\n",
];

for (const { engine, fileName, fileFlag } of ENGINES) {
  describeWith([engine], `what gets into an image that ${engine} builds`, () => {
    const build = async (cwd: string, ...flags: string[]) => {
      const imageName = freshImageName(engine);
      const result = await runCli([engine, "build-image", "--image-name", imageName, ...flags], { cwd });
      return { ...result, imageName };
    };

    const projectWith = (files: Readonly<Record<string, string>>): string =>
      repositoryWith({
        ".sanddune/.env": `KEY=${SECRET}\n`,
        [fileName]: `${labelledFrom(engine, TEST_IMAGE)}COPY . /context\n`,
        ...files,
      });

    /** It is refused, or it is built without the secret. */
    const expectNoSecret = async (cwd: string): Promise<void> => {
      const { exitCode, imageName, stderr } = await build(cwd, fileFlag, fileName);
      if (exitCode === 0) expect(inImage(engine, imageName, FIND_SECRET)).toBe("");
      else {
        expect(stderr).toContain("Cannot build an image");
        expect(hasImage(engine, imageName)).toBe(false);
      }
    };

    it.each(READMISSIONS)("is never the env file, if the ignore file is %j", async (ignored) => {
      await expectNoSecret(projectWith({ ".dockerignore": ignored }));
    });

    it.each([".dockerignore", ".containerignore"])(
      "is never the env file, if the file has an ignore file of its own, with %s",
      async (suffix) => {
        await expectNoSecret(
          projectWith({ ".dockerignore": ".sanddune\n", [`${fileName}${suffix}`]: "nothing\n" }),
        );
      },
    );

    it("is no file of the host that a link in the config directory leads to", async () => {
      const outside = temporaryDirectory();
      writeFileSync(join(outside, "private"), SECRET);
      const cwd = repositoryWith({
        ".sanddune/.env": `KEY=${SECRET}\n`,
        ".sanddune/.env.local": `KEY=${SECRET}\n`,
        ".sanddune/runs/one/journal.jsonl": SECRET,
        ".sanddune/logs/one.log": SECRET,
        [`.sanddune/${fileName}`]: `${labelledFrom(engine, TEST_IMAGE)}COPY . /context\n`,
      });
      mkdirSync(join(cwd, ".sanddune/links"));
      symlinkSync(join(outside, "private"), join(cwd, ".sanddune/links/file"));
      symlinkSync(outside, join(cwd, ".sanddune/links/directory"));
      symlinkSync("../.env", join(cwd, ".sanddune/links/env"));
      symlinkSync(".", join(cwd, ".sanddune/links/loop"));
      const { exitCode, imageName } = await build(cwd);
      expect(exitCode).toBe(0);
      expect(inImage(engine, imageName, "ls /context/links")).toBe("directory\nenv\nfile\nloop");
      expect(inImage(engine, imageName, FIND_SECRET)).toBe("");
    });

    it("is never shown on the terminal, if the file to build from is a link to the env file", async () => {
      const cwd = repositoryWith({ ".sanddune/.env": `KEY=${SECRET}\n` });
      symlinkSync(".env", join(cwd, ".sanddune", fileName));
      for (const flags of [[], ["--verbose"], ["--json"]]) {
        const { exitCode, stdout, stderr } = await build(cwd, ...flags);
        expect(exitCode).toBe(1);
        expect(`${stdout}${stderr}`.toLowerCase()).not.toContain(SECRET);
        expect(stderr).toContain(`${fileName}: it is not a regular file`);
      }
    });

    it("is what a build argument says, but no error repeats that", async () => {
      const cwd = repositoryWith({
        [`.sanddune/${fileName}`]: `${labelledFrom(engine, TEST_IMAGE)}ARG TOKEN\nRUN exit 3\n`,
      });
      for (const flags of [[], ["--json"]]) {
        const { exitCode, stdout, stderr } = await build(cwd, "--build-arg", `TOKEN=${SECRET}`, ...flags);
        expect(exitCode).toBe(1);
        expect(stderr).toContain("RUN exit 3");
        expect(`${stdout}${stderr}`).not.toContain(SECRET);
      }
    });
  });
}

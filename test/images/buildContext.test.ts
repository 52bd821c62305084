import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuildContextError } from "../../src/errors/commandErrors.ts";
import { ConfigDirectoryError } from "../../src/errors.ts";
import { openBuildContext } from "../../src/images/buildContext.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { writeFiles } from "../helpers/repository/writeFiles.ts";

const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
  writeFiles(directory, files);
  return directory;
};

const isAccepted = async (engine: "docker" | "podman", directory: string): Promise<boolean> => {
  try {
    await using context = await openBuildContext(engine, directory, join(directory, "Dockerfile"));
    expect(context.directory).toBe(directory);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(BuildContextError);
    return false;
  }
};

for (const [ignored, expected] of [
  ["", false],
  ["node_modules\n", false],
  [".env\n", false],
  ["#.sanddune\n", false],
  [".sanddune\n!.sanddune/setup.sh\n", false],
  [".sanddune\n!**/*.json\n", false],
  [".sanddune\n!.*\n", false],
  [".sanddune\n!./.sanddune/.env\n", false],
  [".sanddune\n! .sanddune/.env\n", false],
  [".sanddune\n!a/../.sanddune/.env\n", false],
  [".sanddune\n!\\.sanddune\n", false],
  [".sanddune\n", true],
  ["/.sanddune/\r\n", true],
  [".sanddune/**\n", true],
  [".sanddune/.env\n", true],
  ["**/.env\n", true],
  ["**/.sanddune\n", true],
  [".sanddune\n!src\n", true],
  ["*\n!/here.txt\n", true],
] as const) {
  test(`a directory with secrets and the ignore file ${JSON.stringify(ignored)} is ${expected ? "accepted" : "refused"}`, async () => {
    const directory = directoryWith({ ".sanddune/.env": "KEY=value\n", ".dockerignore": ignored });
    expect(await isAccepted("docker", directory)).toBe(expected);
    expect(await isAccepted("podman", directory)).toBe(expected);
  });
}

test("of two ignore files Podman heeds its own, and Docker the other one", async () => {
  const directory = directoryWith({
    ".sanddune/logs/one.log": "",
    ".dockerignore": ".sanddune\n",
    ".containerignore": "node_modules\n",
  });
  expect(await isAccepted("docker", directory)).toBe(true);
  expect(await isAccepted("podman", directory)).toBe(false);
});

test.each(["Dockerfile.dockerignore", "Dockerfile.containerignore"])(
  "an ignore file of the build file's own has to keep secrets out as well: %s",
  async (name) => {
    const files = { ".sanddune/.env": "KEY=value\n", ".dockerignore": ".sanddune\n" };
    expect(await isAccepted("docker", directoryWith({ ...files, [name]: "node_modules\n" }))).toBe(false);
    expect(await isAccepted("docker", directoryWith({ ...files, [name]: ".sanddune\n" }))).toBe(true);
  },
);

test("a directory without anything private needs no ignore file", async () => {
  expect(await isAccepted("docker", directoryWith({ ".sanddune/Dockerfile": "" }))).toBe(true);
});

test("a config directory that leads elsewhere is not built from", async () => {
  const link = join(temporaryDirectory(), ".sanddune");
  symlinkSync(directoryWith({ Dockerfile: "" }), link);
  await expect(openBuildContext("docker", link, join(link, "Dockerfile"))).rejects.toBeInstanceOf(
    ConfigDirectoryError,
  );
});

test("a missing directory is reported with the flag that names another one", async () => {
  const missing = join(temporaryDirectory(), "missing");
  await expect(openBuildContext("docker", missing, join(missing, "Dockerfile"))).rejects.toThrow(
    "Name another one: --cwd DIR",
  );
});

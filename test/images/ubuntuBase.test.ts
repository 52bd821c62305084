import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "e2b";
import { describe, expect, it } from "vitest";
import { InvalidOptionsError, readDockerfile } from "../../src/index.ts";
import { scaffoldFor } from "../../src/init/scaffold.ts";
import { modal } from "../../src/sandboxes/modal.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const PROJECT = { isModulePackage: true, packageManager: "npm", dependencies: undefined } as const;

const ubuntuDockerfile = (): string => {
  const scaffold = scaffoldFor(
    {
      ...{ agent: "claude-code", model: "claude-opus-4-8", sandbox: "docker", imageName: "x" },
      ...{ template: "blank", backlog: "none", base: "ubuntu" },
    },
    PROJECT,
  );
  return scaffold["Dockerfile"] ?? "";
};

const written = (text: string): string => {
  const path = join(temporaryDirectory(), "Dockerfile");
  writeFileSync(path, text);
  return path;
};

describe("the Dockerfile with the base ubuntu", () => {
  it("is whole: what every image has, on Ubuntu, with the agent after Node and before the user", () => {
    const text = ubuntuDockerfile();
    expect(text).not.toContain("{{");
    expect(text).not.toContain("bookworm");
    const order = ["FROM $", "python3", "nodejs.org", "rustup", " gh;", "claude-code@", "USER agent"];
    const places = order.map((part) => text.indexOf(part));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it("has valid shell in every step", () => {
    const { imageName, dockerfileCommands } = readDockerfile(written(ubuntuDockerfile()));
    expect(imageName).toBe("ubuntu:24.04");
    const steps = dockerfileCommands.filter((command) => command.startsWith("RUN "));
    expect(steps.length).toBeGreaterThan(4);
    for (const step of steps) {
      const { status, stderr } = spawnSync("sh", ["-n", "-c", step.slice(4)], { encoding: "utf8" });
      expect({ step, status, stderr }).toMatchObject({ status: 0, stderr: "" });
    }
  });

  it("can be handed to Modal and to E2B", async () => {
    const image = readDockerfile(written(ubuntuDockerfile()));
    expect(modal(image).name).toBe("modal");
    const text = [`FROM ${image.imageName}`, ...image.dockerfileCommands].join("\n");
    const template = Template().fromDockerfile(text);
    const said = Template.toDockerfile(template);
    expect(said).toMatch(/^FROM ubuntu:24\.04\n/);
    for (const command of image.dockerfileCommands) {
      if (command.startsWith("RUN ")) expect(said).toContain(command);
    }
  });
});

describe("readDockerfile", () => {
  it.each([
    ["FROM a\nCOPY x y\n", "the service gets no files"],
    ["FROM a\nADD x y\n", "the service gets no files"],
    ["FROM a\nFROM b\n", "has 2 stages"],
    ["RUN true\n", "has 0 stages"],
    ["FROM a\nRUN <<EOF\n  #!/bin/sh\n  b\nEOF\n", "has a here-document"],
    ["FROM a\nRUN cat > x <<-'END'\n  b\nEND\n", "has a here-document"],
  ])("refuses %j", (text, problem) => {
    const path = written(text);
    expect(() => readDockerfile(path)).toThrow(InvalidOptionsError);
    expect(() => readDockerfile(path)).toThrow(problem);
  });

  it("joins lines, leaves comments out, and takes the defaults of arguments before FROM", () => {
    const text = "# one\nARG TAG=1.2\nfrom image:$TAG\n\nRUN a \\\n  # two\n  && b\nUSER x\n";
    expect(readDockerfile(written(text))).toEqual({
      imageName: "image:1.2",
      dockerfileCommands: ["RUN a && b", "USER x"],
    });
  });

  it.each([
    "FROM --platform=linux/amd64 image:1.2 AS base",
    "FROM image:1.2 as base",
    'ARG TAG="1.2"\nFROM image:$TAG',
  ])("takes only the image of %j", (text) => {
    expect(readDockerfile(written(`${text}\nRUN cat <<< x\n`))).toEqual({
      imageName: "image:1.2",
      dockerfileCommands: ["RUN cat <<< x"],
    });
  });

  it("says which file is missing", () => {
    expect(() => readDockerfile("/no/such/Dockerfile")).toThrow("/no/such/Dockerfile");
  });
});

import { expect, test } from "vitest";
import { BuildSteps } from "../../src/images/buildSteps.ts";

const CASES = [
  {
    builder: "Docker's classic builder",
    output: `Sending build context to Docker daemon  3.631kB
Step 1/3 : ARG BASE_IMAGE=base
Step 2/3 : FROM $BASE_IMAGE
 ---> 2a346c05a336
Step 3/3 : RUN echo Step one; exit 3
 ---> Running in 8b989752ab0b
Step one
The command '/bin/sh -c echo Step one; exit 3' returned a non-zero code: 3`,
    steps: ["1/3 ARG BASE_IMAGE=base", "2/3 FROM $BASE_IMAGE", "3/3 RUN echo Step one; exit 3"],
    failed: "3/3 RUN echo Step one; exit 3",
  },
  {
    builder: "Podman",
    output: `STEP 1/2: FROM base
STEP 2/2: RUN exit 3
Error: building at STEP "RUN exit 3": while running runtime: exit status 3`,
    steps: ["1/2 FROM base", "2/2 RUN exit 3"],
    failed: "2/2 RUN exit 3",
  },
  {
    builder: "Podman with stages",
    output: `[1/2] STEP 1/2: FROM base AS tools
[1/2] STEP 2/2: RUN true
--> 3f166476b0a
[2/2] STEP 1/1: FROM base`,
    steps: ["1/2 FROM base AS tools", "2/2 RUN true", "1/1 FROM base"],
    failed: "1/1 FROM base",
  },
  {
    builder: "BuildKit",
    output: `#0 building with "default" instance using docker driver
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 84B done
#4 [1/3] FROM docker.io/library/base:latest
#4 CACHED
#5 [2/3] RUN sleep 1
#6 [tools 2/2] RUN exit 3
#5 0.345 working
#6 0.401 [9/9] not a step
#6 ERROR: process "/bin/sh -c exit 3" did not complete successfully: exit code: 3
#5 [2/3] RUN sleep 1
#5 CANCELED
------
 > [tools 2/2] RUN exit 3:
------
ERROR: failed to solve: process "/bin/sh -c exit 3" did not complete successfully: exit code: 3`,
    steps: ["1/3 FROM docker.io/library/base:latest", "2/3 RUN sleep 1", "2/2 RUN exit 3"],
    failed: "2/2 RUN exit 3",
  },
  {
    builder: "a builder that never begins",
    output: "Cannot connect to the Docker daemon",
    steps: [],
    failed: undefined,
  },
];

for (const { builder, output, steps, failed } of CASES) {
  test(`the steps of ${builder} are recognised, and the one that failed`, () => {
    const reader = new BuildSteps();
    const seen = output.split("\n").flatMap((line) => reader.read(line) ?? []);
    expect({ steps: seen, failed: reader.failed }).toEqual({ steps, failed });
  });
}

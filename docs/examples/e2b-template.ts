// Makes a template of E2B out of .sanddune/Dockerfile: E2B_API_KEY=… node e2b-template.ts my-app

import { readDockerfile } from "@missingstudio/sanddune";
import { defaultBuildLogger, Template } from "e2b";

const [, , name = "my-app"] = process.argv;
const { imageName, dockerfileCommands } = readDockerfile(".sanddune/Dockerfile");
const template = Template().fromDockerfile([`FROM ${imageName}`, ...dockerfileCommands].join("\n"));
await Template.build(template, name, { cpuCount: 2, memoryMB: 4096, onBuildLogs: defaultBuildLogger() });
console.log(`Use it: e2b({ template: ${JSON.stringify(name)} })`);

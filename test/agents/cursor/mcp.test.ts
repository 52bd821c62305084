import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cursor } from "../../../src/agents/cursor/provider.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import { commandOf, MCP_SERVERS } from "../../helpers/agents/agentCommands.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const agent = cursor("composer-2");

/** Stands for Cursor's CLI, which is not on npm: it prints what it can read of servers, and then its arguments. */
const CLI = `#!/bin/sh
cat "$HOME/.cursor/mcp.json" 2>/dev/null
stat -c %a "$HOME/.cursor/mcp.json" 2>/dev/null
echo "config: $SANDDUNE_MCP_CONFIG"
printf '<%s>' "$@"
`;

/** All that the command needs besides the CLI and Node.js. */
const PROGRAMS = ["sh", "cat", "mkdir", "mktemp", "mv", "rm", "stat", "wc"];

/** A home directory, with the stand-in on its PATH. */
const home = ({
  cli = CLI,
  config,
  hasNode = true,
}: {
  cli?: string;
  config?: string;
  hasNode?: boolean;
} = {}) => {
  const directory = temporaryDirectory();
  const bin = join(directory, "bin");
  const file = join(directory, ".cursor/mcp.json");
  mkdirSync(bin);
  for (const name of PROGRAMS) {
    symlinkSync(spawnSync("which", [name], { encoding: "utf8" }).stdout.trim(), join(bin, name));
  }
  if (hasNode) symlinkSync(process.execPath, join(bin, "node"));
  const setCli = (source: string) => {
    writeFileSync(join(bin, "cursor-agent"), source);
    chmodSync(join(bin, "cursor-agent"), 0o755);
  };
  setCli(cli);
  if (config !== undefined) {
    mkdirSync(join(directory, ".cursor"));
    writeFileSync(file, config, { mode: 0o640 });
  }
  const repository = join(directory, "repository");
  mkdirSync(repository);
  const run = (mcpServers?: typeof MCP_SERVERS) => {
    const command = commandOf(agent, mcpServers && { mcpServers });
    const ended = spawnSync("sh", ["-c", commandLineOf(command)], {
      cwd: repository,
      input: command.stdin,
      encoding: "utf8",
      env: { ...command.env, HOME: directory, TMPDIR: directory, PATH: bin },
    });
    expect(readdirSync(repository)).toEqual([]);
    return ended;
  };
  const left = () => (existsSync(join(directory, ".cursor")) ? readdirSync(join(directory, ".cursor")) : []);
  return { file, run, left, setCli };
};

const IMAGES = `{
  "mcpServers": { "theirs": { "command": "theirs" }, "local": { "command": "other" } },
  "other": true
}
`;

describe("MCP servers of Cursor's CLI", () => {
  it("are in a file of the home directory that no other user can read, while it runs", () => {
    const { run, left } = home();
    const { status, stdout, stderr } = run(MCP_SERVERS);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const [config = "", mode, variable, args] = stdout.split("\n");
    expect(JSON.parse(config)).toEqual({ mcpServers: MCP_SERVERS });
    expect(mode).toBe("600");
    expect(variable).toBe("config: ");
    expect(args).toContain("<--force><--approve-mcps><--model><composer-2><Do it>");
    expect(left()).toEqual([]);
  });

  it("are added to those of the image, whose file is restored afterwards", () => {
    const { run, left, file } = home({ config: IMAGES });
    const [config = "", mode] = run(MCP_SERVERS).stdout.split("\n");
    expect(JSON.parse(config)).toEqual({
      mcpServers: { theirs: { command: "theirs" }, ...MCP_SERVERS },
      other: true,
    });
    expect(mode).toBe("600");
    expect(left()).toEqual(["mcp.json"]);
    expect(readFileSync(file, "utf8")).toBe(IMAGES);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["that is no JSON", { config: "{ servers" }],
    ["where there is no Node.js", { config: IMAGES, hasNode: false }],
  ])("are not added to a file %s: the error says so, and the file stays as it is", (_, place) => {
    const { run, left, file } = home(place);
    const { status, stdout, stderr } = run(MCP_SERVERS);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(
      /^cursor-agent: .* ~\/\.cursor\/mcp\.json, which exists already: this needs Node\.js, and valid JSON/m,
    );
    expect(left()).toEqual(["mcp.json"]);
    expect(readFileSync(file, "utf8")).toBe(place.config);
  });

  it.each([undefined, IMAGES])("of a run that was killed are not used by the next: %j", (config) => {
    const place = home({ cli: "#!/bin/sh\nkill -9 $PPID\n", ...(config !== undefined && { config }) });
    expect(place.run(MCP_SERVERS).signal).toBe("SIGKILL");
    expect(readFileSync(place.file, "utf8")).toContain("first secret");
    place.setCli(CLI);
    const { stdout } = place.run();
    expect(stdout).not.toContain("secret");
    expect(stdout).not.toContain("--approve-mcps");
    expect(place.left()).toEqual(config === undefined ? [] : ["mcp.json"]);
    if (config !== undefined) expect(readFileSync(place.file, "utf8")).toBe(config);
  });

  it("need no Node.js where the image has none", () => {
    expect(home({ hasNode: false }).run(MCP_SERVERS).stdout).toContain("first secret");
  });

  it("have their secrets where only the agent can read them", () => {
    const { command, setup, env } = commandOf(agent, { mcpServers: MCP_SERVERS });
    expect(JSON.stringify([command, setup])).not.toContain("secret");
    expect(JSON.stringify(env)).toMatch(/first secret.*second secret/);
  });
});

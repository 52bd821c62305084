import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ConfigEntry, parseConfigList, renderConfig } from "../../src/git/configFile.ts";
import { sandboxConfig } from "../../src/git/sandboxDirectory/sandboxConfig.ts";
import { git, temporaryDirectory } from "../helpers/repository/repository.ts";

it("writes what git reads back, whatever the values hold", () => {
  const entries: ConfigEntry[] = [
    ["user.name", 'Ann "the \\ dev" O\'Neil # not a comment ; nor this'],
    ["core.thing", "two\nlines\tand a tab "],
    ['remote.we"ird\\name.with.dots.url', "ssh://host/path"],
    ["user.empty", ""],
  ];
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "config"), renderConfig(entries));
  expect(parseConfigList(git(directory, "config", "--file", "config", "--list", "-z"))).toEqual(entries);
});

const configOf = (...entries: ConfigEntry[]) => new Map(sandboxConfig(entries));

it("takes over the identity and how files compare", () => {
  const config = configOf(
    ["user.name", "Dev"],
    ["user.email", "dev@example.com"],
    ["core.autocrlf", "input"],
  );
  expect(config.get("user.name")).toBe("Dev");
  expect(config.get("user.email")).toBe("dev@example.com");
  expect(config.get("core.autocrlf")).toBe("input");
});

it("gives an identity to a user who has none", () => {
  expect(configOf().get("user.name")).toBeTruthy();
  expect(configOf().get("user.email")).toBeTruthy();
});

it.each([
  ["core.fsmonitor", "evil"],
  ["core.hookspath", "evil"],
  ["core.sshcommand", "evil"],
  ["core.editor", "evil"],
  ["credential.helper", "store"],
  ["filter.lfs.clean", "evil"],
  ["diff.external", "evil"],
  ["gpg.program", "evil"],
  ["alias.status", "!evil"],
  ["include.path", "evil"],
  ["http.extraheader", "Authorization: secret"],
  ["url.https://token@host/.insteadof", "x"],
  ["remote.origin.uploadpack", "evil"],
])("does not take over %s", (name, value) => {
  expect(configOf([name, value]).has(name)).toBe(false);
});

it.each([
  ["https://user:token@host/repo.git", "https://host/repo.git"],
  ["https://token@host/repo.git", "https://host/repo.git"],
  ["ssh://git@host/repo.git", "ssh://host/repo.git"],
  ["git@host:repo.git", "git@host:repo.git"],
  ["/srv/repo.git", "/srv/repo.git"],
])("knows the remote %s without credentials", (url, expected) => {
  expect(configOf(["remote.origin.url", url]).get("remote.origin.url")).toBe(expected);
});

it("says which object format the repository has", () => {
  const config = configOf(["extensions.objectformat", "sha256"]);
  expect(config.get("core.repositoryformatversion")).toBe("1");
  expect(config.get("extensions.objectformat")).toBe("sha256");
});

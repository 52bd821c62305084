// The containers of all contestants that are left when the bench is interrupted.
import { spawnSync } from "node:child_process";

/** A daemon that does not answer must not keep the bench from ending. */
const docker = (...args) => spawnSync("docker", args, { encoding: "utf8", timeout: 20_000 });

const linesOf = ({ status, stdout }) =>
  status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];

const isBelow = (directories) => (path) => directories.some((directory) => path.startsWith(`${directory}/`));

const inspect = (kind, names, format) =>
  names.length === 0 ? [] : linesOf(docker(kind, "inspect", "--format", format, ...names));

/** Removes the containers, and then the volumes, that have files below one of the directories. */
export const removeContainersIn = (directories) => {
  const isOurs = isBelow(directories);
  const volumes = inspect(
    "volume",
    linesOf(docker("volume", "ls", "--quiet")),
    '{{.Name}} {{with .Options}}{{index . "o"}}{{end}}',
  )
    .map((line) => line.split(" "))
    .filter(([, options = ""]) => options.split(/[=,:]/).some(isOurs))
    .map(([name]) => name);
  const containers = inspect(
    "container",
    linesOf(docker("ps", "--all", "--quiet")),
    '{{.Id}}{{range .Mounts}} {{if eq .Type "volume"}}{{.Name}}{{else}}{{.Source}}{{end}}{{end}}',
  )
    .map((line) => line.split(" "))
    .filter(([, ...mounts]) => mounts.some((mount) => isOurs(mount) || volumes.includes(mount)))
    .map(([id]) => id);
  if (containers.length > 0) docker("rm", "--force", ...containers);
  if (volumes.length > 0) docker("volume", "rm", "--force", ...volumes);
};

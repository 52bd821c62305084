/** The directories of an overlay: writes go to the upper one, and everything else is read from the lower one. */
export interface OverlayLayers {
  /** Never written to. It must not change while the overlay is mounted. */
  readonly lowerPath: string;
  /** Further directories that are never written to, between the lower and the upper one; the topmost first. */
  readonly layerPaths?: readonly string[];
  readonly upperPath: string;
  /** An empty directory on the file system of the upper one, for the kernel. */
  readonly workPath: string;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The kernel separates the layers in this text by these characters, and each client of a container engine escapes them differently. */
const SEPARATORS = /[,:\\"\s]/;

/** Whether the paths can be named in the options of a mount. */
export const areMountable = (...paths: readonly string[]): boolean =>
  paths.every((path) => !SEPARATORS.test(path));

/**
 * The kernel marks replaced directories by attributes: with `userxattr` by ones that an ordinary user can read. Depending on a setting
 * of the machine it would mark moved directories as well, instead of copying their files to the upper directory.
 */
const marks = (): readonly string[] => ["redirect_dir=nofollow", ...(isRoot() ? [] : ["userxattr"])];

/** The options of the mount. This process must be able to mount the upper directory again after a daemon has done so. */
export const mountOptions = ({ lowerPath, layerPaths = [], upperPath, workPath }: OverlayLayers): string =>
  [
    `lowerdir=${[...layerPaths, lowerPath].join(":")}`,
    `upperdir=${upperPath}`,
    `workdir=${workPath}`,
    ...marks(),
  ].join(",");

/** The options of a mount that only reads. A second writable one would take away the work directory of the first. */
export const readOnlyMountOptions = ({ lowerPath, layerPaths = [], upperPath }: OverlayLayers): string =>
  [`lowerdir=${[upperPath, ...layerPaths, lowerPath].join(":")}`, ...marks()].join(",");

export interface ImageBase {
  readonly title: string;
  /** Below `templates/`: replaces the first part of the default Dockerfile. */
  readonly file?: string;
}

/** The bases for the image of a scaffold. */
export const imageBases = {
  node: { title: "Debian with Node 22" },
  ubuntu: {
    title: "Ubuntu 24.04 with Python 3.12, Rust, Node 22 and build tools",
    file: "ubuntu.Dockerfile",
  },
} as const satisfies Readonly<Record<string, ImageBase>>;

export type ImageBaseName = keyof typeof imageBases;

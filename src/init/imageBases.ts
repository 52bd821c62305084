export interface ImageBase {
  readonly title: string;
  /** Below `templates/`: what stands in the place of the default Dockerfile's first part. */
  readonly file?: string;
}

/** What the image of a scaffold is built on. */
export const imageBases = {
  node: { title: "Debian with Node 22" },
  ubuntu: {
    title: "Ubuntu 24.04 with Python 3.12, Rust, Node 22 and build tools",
    file: "ubuntu.Dockerfile",
  },
} as const satisfies Readonly<Record<string, ImageBase>>;

export type ImageBaseName = keyof typeof imageBases;

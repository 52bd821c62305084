/** A sandbox that a scaffold can be made for. Its name is that of the provider's function, and of its module. */
export interface SandboxChoice {
  readonly title: string;
  /** The file that its image is built from. */
  readonly imageFile: "Dockerfile" | "Containerfile" | undefined;
  /** Keeps files out of the image's build context. */
  readonly ignoreFile: ".dockerignore" | ".containerignore" | undefined;
}

export const sandboxChoices = {
  docker: { title: "a Docker container", imageFile: "Dockerfile", ignoreFile: ".dockerignore" },
  podman: { title: "a Podman container", imageFile: "Containerfile", ignoreFile: ".containerignore" },
  bubblewrap: {
    title: "no container and no image, but the programs of this machine",
    imageFile: undefined,
    ignoreFile: undefined,
  },
} as const satisfies Readonly<Record<string, SandboxChoice>>;

export type SandboxChoiceName = keyof typeof sandboxChoices;

/** What sandboxes without a root user say to `sudo`. */
export const NO_ROOT = "it has no root user, so `sudo` is not possible";
export const WITHOUT_ROOT =
  "Install what is needed in its image and leave `sudo` out, or use docker or podman for hooks with `sudo`.";

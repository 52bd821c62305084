/** The refusal of `sudo` in a sandbox without a root user, and the hint. */
export const NO_ROOT = "it has no root user, so `sudo` is not possible";
export const WITHOUT_ROOT =
  "Install what is needed in its image and leave `sudo` out, or use docker or podman for hooks with `sudo`.";

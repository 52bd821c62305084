/** What sandboxes without a root user say to `sudo`. */
export const NO_ROOT = "it has no root user, so `sudo` is not possible";
export const USE_CONTAINERS = "Use docker or podman for hooks with `sudo`.";

ARG BASE_IMAGE=ubuntu:24.04
FROM ${BASE_IMAGE}
USER root

# Python is 3.12 in Ubuntu 24.04.
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    build-essential ca-certificates cmake curl file git jq libssl-dev pkg-config procps \
    python3 python3-dev python3-pip python3-venv ripgrep unzip xz-utils \
  && rm -rf /var/lib/apt/lists/*

# Node 22, from its makers: the newest one of their list, which also says what its archive has to be.
RUN set -eu; \
  case "$(dpkg --print-architecture)" in amd64) arch=x64 ;; arm64) arch=arm64 ;; *) exit 1 ;; esac; \
  releases=https://nodejs.org/dist/latest-v22.x; \
  cd /tmp; \
  curl --fail --silent --show-error --location "$releases/SHASUMS256.txt" | grep "linux-$arch.tar.xz$" >node.sha256; \
  archive="$(cut -d' ' -f3 node.sha256)"; \
  curl --fail --silent --show-error --location --output "$archive" "$releases/$archive"; \
  sha256sum --check node.sha256; \
  tar --extract --file "$archive" --directory /usr/local --strip-components=1 --no-same-owner; \
  rm "$archive" node.sha256

# Rust. Every user can add crates and components, since commands run with your user id.
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
RUN set -eu; \
  curl --fail --silent --show-error --location --output /tmp/rustup.sh https://sh.rustup.rs; \
  sh /tmp/rustup.sh -y --no-modify-path --profile minimal --component clippy,rustfmt; \
  chmod -R a+w "$RUSTUP_HOME" "$CARGO_HOME"; \
  rm /tmp/rustup.sh

# An image whose processes are not root's, as those of many agents' images.
FROM sanddune-test-base
RUN useradd --create-home --uid 1000 --user-group --shell /bin/bash agent
USER agent
WORKDIR /home/agent

# The image of a release for real servers: with redis-server and libfaketime, which "--backend process"
# runs. Proxies that disturb connections are part of the program.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN apt-get update -qq \
	&& apt-get install -qq -y --no-install-recommends redis-server libfaketime \
	&& rm -rf /var/lib/apt/lists/* \
	&& find / -xdev -type f -perm /6000 -exec chmod ug-s {} +
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/lockstorm /usr/local/bin/lockstorm
COPY LICENSE release/THIRD_PARTY_NOTICES /usr/share/doc/lockstorm/
COPY --chown=65532:65532 image/data /data
ENV HOME=/data
WORKDIR /data
USER 65532:65532
ENTRYPOINT ["lockstorm"]
CMD ["debate"]

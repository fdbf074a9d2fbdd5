#!/bin/sh
# Prints the packages whose tests run on every system: they simulate, check, read and write, and start no
# servers. Tests of real servers need Linux.
echo ./checker ./env ./guard ./history ./internal/excerpt ./internal/explore ./internal/fuzz ./internal/inevitable ./internal/jepsen ./internal/picture \
	./internal/packed ./internal/promises ./internal/rare ./internal/report/... ./internal/rivals ./internal/runner ./internal/shard ./internal/sim \
	./internal/sweep/... ./internal/textfmt ./internal/trace ./internal/tune ./internal/world ./model ./nemesis ./redlock ./results/... ./scenarios/...

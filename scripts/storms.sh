#!/bin/sh
# Runs campaigns while their servers and workers have faults, a hundred drawn plans or as many as the
# argument says. Writes docs/evidence/storms.md. Fails if one of them ends in any other way than one process.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
storms="go test ./internal/campaign -run TestCampaignInStorms -timeout 2h -args -plans=${1:-100} -disks"
# shellcheck disable=SC2086 # words
$storms -table="$work/table" >&2

{
	cat <<END
# Campaigns in storms

Made by \`make storms\` with $(go env GOVERSION) on $(nproc) cores.

\`\`\`
\$ $storms -table=FILE
\`\`\`

A campaign of 40 shards, on three servers and three workers, each a process of its own. Faults are drawn from the seed, by Lockstorm's own means: processes are killed (\`kill\`, \`kill-worker\`) or stand still (\`stop\`, \`stop-worker\`), proxies cut or delay links between clients and servers (clients 1 to 3 are workers, 4 follows the campaign), servers lose what they have not synced to their disk (\`lose-power\`), or their disk is full (\`fill-disk\`). In storms with odd numbers shards may draw from others.

Every campaign of this page ended with the bytes that one process makes, with all finds, and without two different results of a shard. What went wrong until then is counted:

- *campaign forgotten*: all servers had lost it, and whoever followed it submitted it again;
- *shards set aside*: their workers died three times, which was reported, and starting the campaign again made them;
- *results lost*: servers or their bucket had acknowledged them; they were made again.

END
	cat "$work/table"
} >docs/evidence/storms.md.new
mv docs/evidence/storms.md.new docs/evidence/storms.md

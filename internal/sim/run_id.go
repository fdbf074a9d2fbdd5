package sim

import (
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// A SET can ask in which run of the server it was processed, and whether a client
// has attested to that run. The answer travels as one number: twice the run, plus
// one if the run is attested.

func (n *node) runID(watched time.Duration) uint64 {
	number := 2 * n.run
	if n.attested[watched].run == n.run {
		number++
	}
	return number
}

// setRunID decodes that number into a reply.
func setRunID(r *env.Reply, number uint64) {
	r.Run, r.Vouched = runName(number/2), number%2 == 1
}

// runName stands for the run id that Redis draws for each start of a server.
func runName(run uint64) string { return "run " + strconv.FormatUint(run, 10) }

// attestation notes which run a client has watched, and when it said so.
type attestation struct {
	run uint64
	at  int64 // ground time
}

// attest notes that a client has watched the node's current run. Attestations of
// other runs are of no use and are dropped.
func (n *node) attest(command *env.Command, now int64) {
	if command.Token != runName(n.run) {
		return
	}
	if n.attested == nil {
		n.attested = map[time.Duration]attestation{}
	}
	n.attested[command.TTL] = attestation{n.run, now}
	n.dirty = true
}

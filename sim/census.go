package sim

import (
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// A census is what a SET can ask beside its work: in which run of the server it
// was carried out, and whether somebody has vouched for that run. On its way it
// is one number: twice the run, plus one if somebody has.

func (n *node) census(watched time.Duration) uint64 {
	number := 2 * n.run
	if n.vouched[watched].run == n.run {
		number++
	}
	return number
}

// takeCensus puts what a census says into a reply.
func takeCensus(r *env.Reply, census uint64) {
	r.Run, r.Vouched = runName(census/2), census%2 == 1
}

// runName stands for what Redis draws at random for each start of a server.
func runName(run uint64) string { return "run " + strconv.FormatUint(run, 10) }

// voucher is a note that a run has been watched, and since when it is there.
type voucher struct {
	run uint64
	at  int64 // ground time
}

// vouch notes that a run has been watched, if it is the present one: what is
// said of another will never be of use.
func (n *node) vouch(command *env.Command, now int64) {
	if command.Token != runName(n.run) {
		return
	}
	if n.vouched == nil {
		n.vouched = map[time.Duration]voucher{}
	}
	n.vouched[command.TTL] = voucher{n.run, now}
	n.dirty = true
}

package sim

import "github.com/lockstorm/lockstorm/nemesis"

// Pushed returns how many events the world has put into its queue so far.
func (w *World) Pushed() uint64 { return w.queue.seq }

// Churn passes events through a queue in which so many others wait, and
// returns the time of the last: what a simulator costs that does nothing but
// keep the order.
func Churn(events uint64, waiting int) int64 {
	var q queue
	random := nemesis.Stream(1, "churn")
	delay := func() int64 { return 100_000 + int64(random.Uint64()>>47) }
	for i := range waiting {
		q.push(delay(), requestArrives, int32(i))
	}
	var now int64
	for range events {
		e := q.pop()
		now = e.at
		q.push(now+delay(), requestArrives, e.index())
	}
	return now
}

// byName returns the keys that exist.
func (s *keyspace) byName() map[string]key {
	all := map[string]key{}
	for _, number := range s.inOrder() {
		all[s.names.list[number]], _ = s.get(number)
	}
	return all
}

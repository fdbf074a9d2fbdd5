package scenarios

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// restartSeries is the series about restarts.
var restartSeries = []Series{
	{
		Name:     "delayed-restart",
		Summary:  "a node of the holder's quorum crashes at some time of the validity, and stays away for a while",
		Claims:   []Claim{fromKleppmann("safe, good clocks", onSynchrony), fromRedis("safe", "Performance, Crash Recovery and fsync")},
		Varied:   "restart delay",
		Property: checker.Lease,
		Formula:  outwaiting(promptLock),
		Points:   delays(plainDelay, 0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 990, 1000, 1100, 1200, 1300),
	},
	{
		Name:     "delayed-restart-extended",
		Summary:  "the same when the holder extends every 300 ms: what counts is the validity from the last extension",
		Claims:   []Claim{fromKleppmann("safe, good clocks", onSynchrony), fromRedis("safe", "Performance, Crash Recovery and fsync")},
		Varied:   "restart delay",
		Property: checker.Lease,
		Formula:  outwaiting(promptLock),
		Points:   delays(extendedDelay, 0, 300, 600, 650, 700, 750, 800, 850, 900, 950, 990, 1000, 1100, 1300),
	},
}

// delays makes a series of restart delays, in thousandths of the TTL, which are
// milliseconds.
func delays(point func(away time.Duration) Scenario, thousandths ...int) []Point {
	points := make([]Point, len(thousandths))
	for i, t := range thousandths {
		points[i] = Point{Value: fmt.Sprintf("%.2f TTL", float64(t)/1000), Scenario: point(time.Duration(t) * ms)}
	}
	return points
}

// crashAt is the time at which node 3 crashes in these series. The holder starts at a random time
// before, so that the crash comes at a random time of its validity.
const crashAt = 990 * ms

// contender is the other client. It retries continually from shortly before node 3 returns. Until
// then it has no quorum, and tries that cannot succeed show nothing.
func contender(away time.Duration) Client {
	return holding(1, exactly(crashAt+max(0, away-10*ms)), span(20*ms, 50*ms), exactly(0))
}

// validity is the TTL without the allowance.
func validity(l Lock) time.Duration { return l.TTL - l.Allowance(l.TTL) }

// outwaiting is the smallest delay with which a restart is harmless.
func outwaiting(l Lock) string {
	return fmt.Sprintf("%.3f TTL: a node has to stay away for a validity, (TTL − allowance)/TTL", validity(l).Seconds()/l.TTL.Seconds())
}

// plainDelay is a holder that keeps the lock to the end of its validity V. If
// the crash is uniform over V, the node away for D, and the rival granted ℓ after
// its return, a violation has the probability max(0, 1 − (D+ℓ)/V).
func plainDelay(away time.Duration) Scenario {
	return Scenario{
		Name:    fmt.Sprintf("delayed-restart-at-%dms", away/ms),
		Summary: fmt.Sprintf("a node of the quorum crashes at some time of the validity, and stays away for %v", away),
		Lock:    promptLock,
		Clients: []Client{
			holding(1, span(0, crashAt-4*ms), exactly(2*time.Second), exactly(0)),
			contender(away),
		},
		Setting: five(8*time.Second, cutOff(1, 4, 5), crash(3, nemesis.At(crashAt), away)),
		Bounds:  quickBounds,
		Expect:  outwaited(away, validity(promptLock), validity(promptLock)),
	}
}

// extendedDelay is a holder that extends: at the crash the last extension is up to an
// interval old, and no later one succeeds, because the quorum is gone.
func extendedDelay(away time.Duration) Scenario {
	const every = 300 * ms
	return Scenario{
		Name:    fmt.Sprintf("delayed-restart-extended-%dms", away/ms),
		Summary: fmt.Sprintf("the holder extends every %v; a node of its quorum crashes and stays away for %v", every, away),
		Lock:    promptLock,
		Clients: []Client{
			extending(holding(1, span(0, every), exactly(5*time.Second), exactly(0)), every),
			contender(away),
		},
		Setting: five(8*time.Second, cutOff(1, 4, 5), crash(3, nemesis.At(crashAt), away)),
		Bounds:  quickBounds,
		Expect:  outwaited(away, validity(promptLock), every),
	}
}

// outwaited returns the expected verdicts for a holder when some node of its quorum stays away for
// a delay after a crash, and at most the given validity is left. Exclusion holds if the validity is
// over by then. The remaining validity is uniform over a spread, so that a shorter delay violates
// it in a share of the runs; if that share is below a quarter, a few runs may not show it, and any
// verdict is expected.
func outwaited(away, left, spread time.Duration) Expectations {
	switch {
	case away >= left:
		return expect(holds, holds, na, na)
	case 4*(left-away) >= spread:
		return expect(violated, violated, na, na)
	}
	return open(expect(na, na, na, na))
}

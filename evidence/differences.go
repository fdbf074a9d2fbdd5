package main

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// comparisonDifferences are the known reasons why a lock in a store does not behave on real servers as in
// the simulated store.
var comparisonDifferences = slices.Concat(
	otherMasters("crash", "restart"),
	otherPrimaries("crash", "restart", "one-down", "leader-isolated", "storm"),
	lostHandshakes("lost-replies", "storm"),
	[]scenarios.Difference{
		{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Effect, Reason: stepped},
		{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Lease, Reason: stepped},
		{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Section, Reason: stepped},
	})

// otherPrimaries are the differences of locks on PostgreSQL in trials in which the primary can be
// lost: not the next standby takes its place, but the one with the most WAL, which gives other
// numbers.
func otherPrimaries(trials ...string) (list []scenarios.Difference) {
	for _, t := range trials {
		for _, lock := range []string{"database-row", "database-row-asynchronous", "advisory", "advisory-checked", "advisory-transaction"} {
			list = append(list, scenarios.Difference{
				Row: scenarios.ComparisonName(t, lock), Backend: "process", Property: checker.DeadlockFreedom,
				Reason: "the standby with the most WAL becomes the primary. If client 1 is cut off from it, and the others are done, nobody is granted the lock. A simulated member passes requests on to the leader, and the next one leads",
			})
		}
		for _, p := range []checker.Property{checker.Fence, checker.Contract} {
			list = append(list, scenarios.Difference{
				Row: scenarios.ComparisonName(t, "database-row-asynchronous"), Backend: "process", Property: p,
				Reason: "PostgreSQL writes a sequence to the WAL 32 values ahead (SEQ_LOG_VALS). So a new primary leaves numbers out, and gives none again unless the last such record is lost, too. The simulated store numbers its changes",
			})
		}
	}
	return list
}

// otherMasters are the differences of locks on Redis with failover in trials in which client 1 reaches a bare
// quorum only.
func otherMasters(trials ...string) (list []scenarios.Difference) {
	for _, t := range trials {
		for _, lock := range []string{"redis-sentinel", "redis-cluster"} {
			list = append(list, scenarios.Difference{
				Row: scenarios.ComparisonName(t, lock), Backend: "process", Property: checker.DeadlockFreedom,
				Reason: "client 1 reaches nodes 1 to 3 only. In Redis Cluster the replicas of node 1 are nodes 4 and 5, and Sentinel can promote them, too. If the others are done then, nobody is granted the lock. A simulated member passes requests on to the leader",
			})
		}
	}
	return list
}

// lostHandshakes are the differences of locks on ZooKeeper in trials in which replies are lost.
func lostHandshakes(trials ...string) (list []scenarios.Difference) {
	for _, t := range trials {
		for _, lock := range []string{"zookeeper", "zookeeper-fenced"} {
			list = append(list, scenarios.Difference{
				Row: scenarios.ComparisonName(t, lock), Backend: "process", Property: checker.Cleanup,
				Reason: "a client whose handshake is not answered goes on to the next member after 400 ms, so it can delete its entry that late after the fault; the bound of clean-up is 300 ms",
			})
		}
	}
	return list
}

// stepped is what becomes of the timers of PostgreSQL under libfaketime.
const stepped = "a clock of a server that is stepped: libfaketime shows the real time to the signal handler in which PostgreSQL decides whether a transaction has been idle for too long, so it ends too early, or never"

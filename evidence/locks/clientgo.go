package locks

import (
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
	"github.com/lockstorm/lockstorm/stores/leaderelectiontest"
)

const kubernetes = "k8s.io/client-go"

var kubernetesLocks = []Subject{
	{Name: "client-go", Library: kubernetes, How: "leaderelection with the proportions of its defaults and ReleaseOnCancel, whose context of OnStartedLeading reports the loss, with its record in a key of 3 members of etcd", Store: etcdtest.Store, Open: openClientGo},
	{Name: "client-go-kept", Library: kubernetes, How: "the same without ReleaseOnCancel: the record expires after each hold", Store: etcdtest.Store, Open: openClientGoKept},
}

var kubernetesFindings = []Finding{
	{
		Name: "client-go-releases-first", Kind: Limit,
		Shows: []Shown{
			{Subjects: all("client-go"), Storms: all("holder-cut-off-later"), Properties: all(v1, v2)},
			{Subjects: all("client-go"), Storms: cutOff, Properties: all(v1, v2, v3), Seldom: true},
		},
		What: "A holder is cut off. It gives up when renewals have failed for RenewDeadline, before others take over. With ReleaseOnCancel it then sends a release, and the context of OnStartedLeading ends only when the release has been answered or has timed out. That is RetryPeriod and twice RenewDeadline after the last renewal: 22 s with the defaults, where LeaseDuration is 15 s. A client that has seen that renewal takes over a LeaseDuration later, at its next try. In holder-cut-off the other client sees it too late for that. With requests that time out after half of RenewDeadline, as NewFromKubeconfig sets it, the context ends after 17 s of the defaults, and 2 of 18 such runs showed an overlap. Without ReleaseOnCancel (client-go-kept) it ends after 12 s.",
		Says: "“This implementation does not guarantee that only one client is acting as a leader (a.k.a. fencing)” (documentation of the package); RenewDeadline is “the duration that the acting master will retry refreshing leadership before giving up”.",
		Link: "https://github.com/kubernetes/kubernetes/pull/139991",
	},
}

// openClientGo is the leader election of client-go, which empties its record at the end of a hold.
func openClientGo(env locktest.Env) locktest.Locker { return leaderElection(env, true) }

// openClientGoKept is the same without ReleaseOnCancel: the record stays, and expires.
func openClientGoKept(env locktest.Env) locktest.Locker { return leaderElection(env, false) }

// leaderElection has the defaults of client-go.
func leaderElection(env locktest.Env, release bool) locktest.Locker {
	return leaderelectiontest.New(env, leaderelection.LeaderElectionConfig{
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: release,
	})
}

//go:build unix

package storetest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// OrphanMain is the TestMain of a package whose tests call [NothingSurvives].
func OrphanMain(m *testing.M, open func(ctx context.Context) (live.Fleet, error)) {
	testkit.OrphanMain(m, func(_ string, tell func(...any)) error {
		f, err := open(context.Background())
		if err == nil {
			var pids []any
			for _, s := range f.Servers {
				pids = append(pids, s.(interface{ Pid() int }).Pid())
			}
			tell(pids...)
		}
		return err
	})
}

// NothingSurvives checks that a program which is killed leaves no servers and no files.
func NothingSurvives(t *testing.T, servers int) {
	tmp := OwnTemp(t)
	o := testkit.StartOrphan(t, "")
	if len(Entries(t, tmp)) != 1 || len(o.Told) != servers {
		t.Fatalf("one directory and %d processes are wanted, there are %v and %v", servers, Entries(t, tmp), o.Told)
	}
	o.Kill(t)
	for _, told := range o.Told {
		pid, err := strconv.Atoi(told)
		if err != nil {
			t.Fatal(err)
		}
		Eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !Alive(pid) })
	}
	Eventually(t, "the directory is gone", func() bool { return len(Entries(t, tmp)) == 0 })
}

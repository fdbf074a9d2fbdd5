package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// asRunner is the variable by which this test binary is started as a process that makes shards.
const asRunner = "LOCKSTORM_TEST_RUNNER"

func TestMain(m *testing.M) {
	var err error
	switch server, worker := os.Getenv(asServer), os.Getenv(asStormWorker); {
	case server != "":
		err = serveStorm(server)
	case worker != "":
		err = workInStorm(worker)
	case os.Getenv(asRunner) != "":
		err = makeShards()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// makeShards is the main function of a process that makes shards.
func makeShards() error {
	return campaign.Serve(context.Background(), os.Stdin, os.Stdout, func(_ context.Context, s campaign.Spec) (campaign.Job, error) {
		if s.Command[0] != "count" {
			return nil, fmt.Errorf("unknown command %q", s.Command[0])
		}
		return countingJob{s.Shards}, nil
	})
}

// countingJob misbehaves in some shards.
type countingJob struct{ shards int }

func (countingJob) Sum() string   { return strings.Repeat("0", 64) }
func (j countingJob) Shards() int { return j.shards }
func (countingJob) Runs() int     { return 0 }
func (countingJob) Draws() int    { return 0 }

const (
	crashes = 7
	hangs   = 8
	grows   = 9
	refuses = 10
)

func (countingJob) Run(ctx context.Context, shard int, others []campaign.Other) (campaign.Result, error) {
	switch shard {
	case crashes:
		panic("shard 7 is out of order")
	case hangs:
		time.Sleep(time.Hour)
	case grows:
		var all [][]byte
		for {
			one := make([]byte, 1<<20)
			for i := range one {
				one[i] = 1
			}
			all = append(all, one)
			_ = all
		}
	case refuses:
		return campaign.Result{}, errors.New("no world is left")
	}
	r, err := counting{}.Run(ctx, shard, nil)
	for _, other := range others {
		r.Data = fmt.Appendf(r.Data, "%d: %q\n", other.Shard, other.Data)
	}
	return r, err
}

func startRunner(ctx context.Context, s campaign.Spec) (campaign.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(asRunner, "1"); err != nil {
		return nil, err
	}
	defer func() { _ = os.Unsetenv(asRunner) }()
	return campaign.StartProcess(ctx, exec.Command(self), s) //nolint:gosec // the test itself
}

func TestShardsInProcesses(t *testing.T) {
	s := spec("count", 20)
	s.Limits = campaign.Limits{Time: 2 * time.Second, Memory: 200 << 20, Attempts: 1}
	c := submit(t, embedded(t, t.TempDir()), s)
	w := worker("a", nil)
	w.Start = startRunner
	p := finish(t, c, w)
	reasons := map[int]string{
		crashes: "its process ended: exit status 2", hangs: "longer than its limit of 2s",
		grows: "more than its limit of 200 MiB of memory", refuses: "no world is left",
	}
	if p.Done != s.Shards-len(reasons) || len(p.Aside) != len(reasons) {
		t.Errorf("progress: %+v", p)
	}
	for _, a := range p.Aside {
		if want := reasons[a.Shard]; want == "" || !strings.Contains(a.String(), want) {
			t.Errorf("want %q, got %q", want, a)
		}
		if a.Shard == crashes && !strings.Contains(a.Failures[0].Log, "shard 7 is out of order") {
			t.Errorf("the log of the crash: %q", a.Failures[0].Log)
		}
	}
}

// A runner whose command means something else than at the start of the campaign does not begin.
func TestRunnerOfAnotherJob(t *testing.T) {
	s := spec("count", 20)
	s.Sum = strings.Repeat("1", 64)
	if _, err := startRunner(t.Context(), s); err == nil || !strings.Contains(err.Error(), "does something else here") {
		t.Errorf("got %v", err)
	}
	s.Command = []string{"weigh"}
	if _, err := startRunner(t.Context(), s); err == nil || !strings.Contains(err.Error(), `unknown command "weigh"`) {
		t.Errorf("got %v", err)
	}
}

// A process gets the results of others, whatever bytes they have, and rejects what cannot be one.
func TestProcessDrawsFromOthers(t *testing.T) {
	s := spec("count", 20)
	r, err := startRunner(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for range 2 {
		got, err := r.Run(t.Context(), 3, []campaign.Other{{Shard: 2, Data: []byte("a\nb\x00")}, {Shard: 0}, {Shard: 1, Data: []byte("\n")}})
		if want := "shard 3\n2: \"a\\nb\\x00\"\n0: \"\"\n1: \"\\n\"\n"; err != nil || string(got.Data) != want {
			t.Errorf("got %q, %v; want %q", got.Data, err, want)
		}
	}
	if _, err := r.Run(t.Context(), 3, []campaign.Other{{Shard: 20}}); err == nil || !strings.Contains(err.Error(), "it may draw from shard 20: want 0 to 19") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Run(t.Context(), 3, make([]campaign.Other, campaign.MaxDraws+1)); err == nil || !strings.Contains(err.Error(), "its process ended") {
		t.Errorf("got %v", err)
	}
}

// Whoever reads no reply ends the process, even in the middle of a shard.
func TestRunnerEndsWithItsInput(t *testing.T) {
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- campaign.Serve(t.Context(), in, new(strings.Builder), func(context.Context, campaign.Spec) (campaign.Job, error) {
			<-t.Context().Done() // which a shard that hangs does not even look at
			return nil, nil
		})
	}()
	if _, err := fmt.Fprintln(write, "{}"); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

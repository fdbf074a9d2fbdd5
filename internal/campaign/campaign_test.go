package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

var build = campaign.Build{Version: "v1.2.3", Sum: "abc", Go: "go1.26.0", Arch: "amd64"}

// spec returns a campaign of so many shards.
func spec(name string, shards int) campaign.Spec {
	return campaign.Spec{
		Name: name, Command: []string{"count"}, Sum: strings.Repeat("0", 64), Shards: shards, Size: 10,
		Want: 1, Builds: []campaign.Build{build}, Limits: campaign.Limits{Time: time.Minute, Memory: 1 << 30, Attempts: 3},
	}
}

// counting is a runner whose result is the number of the shard. Before may fail or wait.
type counting struct {
	before func(ctx context.Context, shard int) error
}

func (c counting) Run(ctx context.Context, shard int, _ []campaign.Other) (campaign.Result, error) {
	if c.before != nil {
		if err := c.before(ctx, shard); err != nil {
			return campaign.Result{}, err
		}
	}
	r := campaign.Result{Data: fmt.Appendf(nil, "shard %d\n", shard)}
	if shard%findEvery == 0 {
		r.Find = fmt.Sprintf("found in %d", shard)
	}
	return r, nil
}

// findEvery is how many shards there are for each that finds something.
const findEvery = 7

// findsOf returns how many of some shards find something.
func findsOf(shards int) int { return (shards + findEvery - 1) / findEvery }

func (counting) Close() error { return nil }

func worker(name string, before func(ctx context.Context, shard int) error) campaign.Worker {
	return campaign.Worker{
		Name: name, Build: build, Slots: 2,
		Start: func(context.Context, campaign.Spec) (campaign.Runner, error) { return counting{before}, nil },
	}
}

func embedded(t *testing.T, dir string) *campaign.Engine {
	t.Helper()
	e, err := campaign.Embedded(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func submit(t *testing.T, e *campaign.Engine, s campaign.Spec) *campaign.Campaign {
	t.Helper()
	c, err := e.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// finish follows a campaign to its end, while some workers work.
func finish(t *testing.T, c *campaign.Campaign, workers ...campaign.Worker) campaign.Progress {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := c.Work(ctx, w); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	p, err := c.Follow(ctx, func(campaign.Progress) {})
	if err != nil {
		t.Error(err)
	}
	stop(campaign.ErrComplete)
	group.Wait()
	return p
}

// keepWorking works until ctx ends, and then sends the error.
func keepWorking(ctx context.Context, c *campaign.Campaign, w campaign.Worker) <-chan error {
	worked := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = c.Work(ctx, w)
		}
		worked <- err
	}()
	return worked
}

// whole returns all results of a campaign, in order.
func whole(t *testing.T, c *campaign.Campaign) string {
	t.Helper()
	var all strings.Builder
	for shard := range c.Spec.Shards {
		data, err := c.Result(t.Context(), build, shard)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// counted is what the campaigns of these tests result in.
func counted(shards int) string {
	var all strings.Builder
	for n := range shards {
		fmt.Fprintf(&all, "shard %d\n", n)
	}
	return all.String()
}

func TestEveryShardIsMadeOnce(t *testing.T) {
	const shards = 60
	c := submit(t, embedded(t, t.TempDir()), spec("count", shards))
	var mu sync.Mutex
	made := map[int]int{}
	count := func(_ context.Context, shard int) error {
		mu.Lock()
		defer mu.Unlock()
		made[shard]++
		return nil
	}
	p := finish(t, c, worker("a", count), worker("b", count))
	if p.Done != shards || p.Failures > 0 || len(p.Aside)+len(p.Conflicts) > 0 {
		t.Errorf("progress: %+v", p)
	}
	for shard, n := range made {
		if n != 1 {
			t.Errorf("shard %d was made %d times", shard, n)
		}
	}
	if got := whole(t, c); got != counted(shards) {
		t.Errorf("results:\n%s", got)
	}
}

// The client library refuses more than 4,000 messages that servers have not acknowledged in time. So a
// queue of many shards has to wait in between.
func TestManyShardsAreQueued(t *testing.T) {
	c := submit(t, embedded(t, t.TempDir()), spec("many", 20_000))
	shards := make([]int, c.Spec.Shards)
	for n := range shards {
		shards[n] = n
	}
	if err := c.QueueAll(t.Context(), build, shards); err != nil {
		t.Fatal(err)
	}
	queued, err := c.Queued(t.Context())
	if err != nil || queued != uint64(len(shards)) {
		t.Errorf("%d shards of %d are queued: %v", queued, len(shards), err)
	}
}

// The same directory continues a campaign, and what was made is not made again.
func TestCampaignContinues(t *testing.T) {
	const shards = 20
	dir := t.TempDir()
	first, err := campaign.Embedded(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.Embedded(t.Context(), dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second process in the same directory: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	c := submit(t, first, spec("count", shards))
	made := 0
	var mu sync.Mutex
	w := worker("a", func(ctx context.Context, _ int) error {
		mu.Lock()
		defer mu.Unlock()
		if made++; made == 7 {
			stop()
		}
		return ctx.Err()
	})
	followed := make(chan error, 1)
	go func() {
		_, err := c.Follow(ctx, func(campaign.Progress) {})
		followed <- err
	}()
	for ctx.Err() == nil {
		if err := c.Work(ctx, w); err != nil {
			t.Error(err)
		}
	}
	if err := <-followed; !errors.Is(err, context.Canceled) {
		t.Errorf("following a campaign that is interrupted: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}

	c = submit(t, embedded(t, dir), spec("count", shards))
	before, err := c.Progress(t.Context())
	if err != nil || before.Done == 0 || before.Done == shards {
		t.Fatalf("stored: %+v, %v", before, err)
	}
	again := 0
	finish(t, c, worker("b", func(context.Context, int) error {
		mu.Lock()
		defer mu.Unlock()
		again++
		return nil
	}))
	if again != shards-before.Done {
		t.Errorf("%d shards were made, of %d that were missing", again, shards-before.Done)
	}
	if got := whole(t, c); got != counted(shards) {
		t.Errorf("results:\n%s", got)
	}
}

// A shard that fails as often as it may is set aside, and says why. The others are made. Whoever starts
// the campaign again tries it again.
func TestPoisonedShardIsSetAside(t *testing.T) {
	const shards, poisoned = 10, 4
	e := embedded(t, t.TempDir())
	c := submit(t, e, spec("count", shards))
	p := finish(t, c, worker("a", func(_ context.Context, shard int) error {
		if shard == poisoned {
			return &campaign.LoggedError{Err: errors.New("it crashed"), Log: "panic: at the bottom"}
		}
		return nil
	}))
	if p.Done != shards-1 || p.Failures != 3 || len(p.Aside) != 1 {
		t.Fatalf("progress: %+v", p)
	}
	a := p.Aside[0]
	if want := "shard 4 was set aside after 3 attempts; the last one, of a: it crashed"; a.String() != want {
		t.Errorf("got %q, want %q", a, want)
	}
	if last := a.Failures[len(a.Failures)-1]; last.Log != "panic: at the bottom" {
		t.Errorf("log: %q", last.Log)
	}
	c = submit(t, e, spec("count", shards))
	if p := finish(t, c, worker("b", nil)); p.Done != shards || len(p.Aside) > 0 {
		t.Errorf("the second time: %+v", p)
	}
	if got := whole(t, c); got != counted(shards) {
		t.Errorf("results:\n%s", got)
	}
}

// The shard of a worker that vanishes is made by another.
func TestShardOfALostWorkerIsMadeAgain(t *testing.T) {
	e := embedded(t, t.TempDir())
	e.SetAckWait(100 * time.Millisecond)
	c := submit(t, e, spec("count", 1))
	if err := c.QueueAll(t.Context(), build, []int{0}); err != nil {
		t.Fatal(err)
	}
	if err := c.Vanish(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	if p := finish(t, c, worker("a", nil)); p.Done != 1 {
		t.Errorf("progress: %+v", p)
	}
}

func TestLimitOfTime(t *testing.T) {
	s := spec("count", 2)
	s.Limits.Time, s.Limits.Attempts = 50*time.Millisecond, 1
	c := submit(t, embedded(t, t.TempDir()), s)
	p := finish(t, c, worker("a", func(ctx context.Context, shard int) error {
		if shard == 1 {
			<-ctx.Done()
		}
		return ctx.Err()
	}))
	if p.Done != 1 || len(p.Aside) != 1 || !strings.Contains(p.Aside[0].String(), "longer than its limit of 50ms") {
		t.Errorf("progress: %+v", p)
	}
}

// Two different results of the same shard are a conflict, which names both workers. The first counts.
func TestDifferentResultsAreReported(t *testing.T) {
	c := submit(t, embedded(t, t.TempDir()), spec("count", 1))
	for _, one := range []struct {
		worker, data string
		first        bool
	}{{"a", "shard 0", true}, {"b", "shard 0", false}, {"c", "shard O", false}} {
		first, err := c.Store(t.Context(), build, 0, one.worker, []byte(one.data))
		if err != nil || first != one.first {
			t.Errorf("%s: first %v, %v", one.worker, first, err)
		}
	}
	p, err := c.Progress(t.Context())
	if err != nil || len(p.Conflicts) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	got := c.Explain(t.Context(), p.Conflicts[0])
	for _, want := range []string{"shard 0: a stored the result ", "and c the result ", "they have 7 and 7 bytes, and differ from byte 6 on"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if data, err := c.Result(t.Context(), build, 0); err != nil || string(data) != "shard 0" {
		t.Errorf("the result is %q, %v", data, err)
	}
}

func TestOtherBuildIsRefused(t *testing.T) {
	c := submit(t, embedded(t, t.TempDir()), spec("count", 1))
	w := worker("a", nil)
	w.Build.Arch = "arm64"
	err := c.Work(t.Context(), w)
	if err == nil || !strings.Contains(err.Error(), "arm64") || !strings.Contains(err.Error(), "amd64") {
		t.Errorf("got %v", err)
	}
}

// A campaign that asks for two builds gets all shards of each. It takes no third one, and says which
// shards differ.
func TestTwoBuilds(t *testing.T) {
	s := spec("count", 5)
	s.Want = 2
	e := embedded(t, t.TempDir())
	c := submit(t, e, s)
	opened, err := e.Open(t.Context(), "count")
	if err != nil {
		t.Fatal(err)
	}
	a, b := worker("a", nil), worker("b", nil)
	b.Build.Go = "go1.27.0"
	b.Start = func(context.Context, campaign.Spec) (campaign.Runner, error) { return wrong{}, nil }
	ctx, stop := context.WithCancel(t.Context())
	worked := keepWorking(ctx, opened, b)
	p := finish(t, c, a)
	stop()
	if err := <-worked; err != nil {
		t.Error(err)
	}
	if p.Done != 10 || !slices.Equal(p.Differing, []int{3}) {
		t.Errorf("progress: %+v", p)
	}
	for which, want := range map[campaign.Build]string{build: "shard 3\n", b.Build: "shard E\n"} {
		if data, err := c.Result(t.Context(), which, 3); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", which, data, err)
		}
	}
	third := worker("c", nil)
	third.Build.Go = "go1.28.0"
	if err := c.Work(t.Context(), third); err == nil || !strings.Contains(err.Error(), "go1.28.0") || !strings.Contains(err.Error(), "go1.27.0") {
		t.Errorf("a third build: %v", err)
	}
}

// wrong is a runner that has one result of its own.
type wrong struct{ counting }

func (w wrong) Run(ctx context.Context, shard int, _ []campaign.Other) (campaign.Result, error) {
	if shard == 3 {
		return campaign.Result{Data: []byte("shard E\n")}, nil
	}
	return w.counting.Run(ctx, shard, nil)
}

// Workers leave a stopped campaign, and give back what they have not made.
func TestStoppedCampaign(t *testing.T) {
	e := embedded(t, t.TempDir())
	c := submit(t, e, spec("count", 4))
	if err := c.QueueAll(t.Context(), build, []int{0, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	begun := make(chan bool, 10)
	err := c.Work(t.Context(), worker("a", func(ctx context.Context, _ int) error {
		begun <- true
		if err := e.Stop(t.Context(), "count"); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	if err != nil || len(begun) == 0 {
		t.Fatalf("%d shards begun, %v", len(begun), err)
	}
	p, err := c.Progress(t.Context())
	if err != nil || p.Done > 0 || p.Failures > 0 {
		t.Errorf("after the stop: %+v, %v", p, err)
	}
	c = submit(t, e, spec("count", 4))
	if p := finish(t, c, worker("b", nil)); p.Done != 4 {
		t.Errorf("started again: %+v", p)
	}
	if err := e.Remove(t.Context(), "count"); err != nil {
		t.Error(err)
	}
	if list, err := e.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("after its removal: %q, %v", list, err)
	}
	if _, err := e.Open(t.Context(), "count"); !errors.Is(err, campaign.ErrNone) {
		t.Errorf("opening it: %v", err)
	}
}

// Whoever works is listed until it ends.
func TestWorkersAreListed(t *testing.T) {
	e := embedded(t, t.TempDir())
	c := submit(t, e, spec("count", 1))
	if err := c.QueueAll(t.Context(), build, []int{0}); err != nil {
		t.Fatal(err)
	}
	w := worker("host.example-12", func(ctx context.Context, _ int) error {
		for ctx.Err() == nil {
			list, err := e.Workers(ctx)
			if err != nil {
				return err
			}
			if want := (campaign.Presence{Worker: "host.example-12", Build: build.ID(), Campaign: "count", Slots: 2}); slices.Contains(list, want) {
				return nil
			}
		}
		return ctx.Err()
	})
	if err := c.Work(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if list, err := e.Workers(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("after its end: %+v, %v", list, err)
	}
}

// A campaign of the same name that does something else is refused, and says what differs.
func TestOtherCampaignOfTheName(t *testing.T) {
	e := embedded(t, t.TempDir())
	submit(t, e, spec("count", 4))
	for want, change := range map[string]func(*campaign.Spec){
		"up to 10 runs, and not 20":        func(s *campaign.Spec) { s.Size = 20 },
		"and not 5":                        func(s *campaign.Spec) { s.Shards = 5 },
		`command "count", and not "weigh"`: func(s *campaign.Spec) { s.Command = []string{"weigh"} },
		"have changed":                     func(s *campaign.Spec) { s.Sum = strings.Repeat("1", 64) },
		"1 build, and not 2":               func(s *campaign.Spec) { s.Want = 2 },
		"arm64":                            func(s *campaign.Spec) { s.Builds = []campaign.Build{{Arch: "arm64"}} },
		"bucket":                           func(s *campaign.Spec) { s.Bucket = "mem://" },
	} {
		s := spec("count", 4)
		change(&s)
		if _, err := e.Submit(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if list, err := e.List(t.Context()); err != nil || !slices.Equal(list, []string{"count"}) {
		t.Errorf("campaigns: %q, %v", list, err)
	}
}

func TestInvalidSpecs(t *testing.T) {
	for want, change := range map[string]func(*campaign.Spec){
		`campaign "../x"`:      func(s *campaign.Spec) { s.Name = "../x" },
		`campaign "a.*"`:       func(s *campaign.Spec) { s.Name = "a.*" },
		"0 shards":             func(s *campaign.Spec) { s.Shards = 0 },
		"200000 shards":        func(s *campaign.Spec) { s.Shards = 200_000 },
		"0 words":              func(s *campaign.Spec) { s.Command = nil },
		`file "../../etc"`:     func(s *campaign.Spec) { s.Files = map[string][]byte{"../../etc": nil} },
		`file ".hidden"`:       func(s *campaign.Spec) { s.Files = map[string][]byte{".hidden": nil} },
		"no SHA-256":           func(s *campaign.Spec) { s.Sum = "x" },
		"shards of 0 runs":     func(s *campaign.Spec) { s.Size = 0 },
		"asks for 0 builds":    func(s *campaign.Spec) { s.Want = 0 },
		"17 others: want":      func(s *campaign.Spec) { s.Draws = 17 },
		"between builds":       func(s *campaign.Spec) { s.Draws, s.Want = 1, 2 },
		"it has 0 builds":      func(s *campaign.Spec) { s.Builds = nil },
		"time limit":           func(s *campaign.Spec) { s.Limits.Time = 0 },
		"memory limit":         func(s *campaign.Spec) { s.Limits.Memory = -1 },
		"0 attempts":           func(s *campaign.Spec) { s.Limits.Attempts = 0 },
		"want at most 1048576": func(s *campaign.Spec) { s.Files = map[string][]byte{"x": make([]byte, 1<<20)} },
	} {
		s := spec("count", 4)
		change(&s)
		e := &campaign.Engine{}
		if _, err := e.Submit(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestInvalidServers(t *testing.T) {
	for want, s := range map[string]campaign.Servers{
		"nats://me:xxxxx@host": {URL: "nats://me:secret@host"},
		"ftp://host":           {URL: "ftp://host"},
		"malformed":            {URL: "nats://me:secret@%"},
		"a certificate needs":  {URL: "nats://host", Cert: "x"},
		"9 replicas":           {URL: "nats://host", Replicas: 9},
	} {
		_, err := campaign.Connect(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestDirectoryThatCannotBeWritten(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.Embedded(t.Context(), file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

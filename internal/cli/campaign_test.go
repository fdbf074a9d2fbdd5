package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// asWorker lets the processes that a campaign starts be this program.
func asWorker(t *testing.T) {
	t.Helper()
	t.Setenv(asCommand, "1")
}

// startNATS starts a server of campaigns on loopback, and returns its URL.
func startNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

// wantSameTree wants two directories to have the same files.
func wantSameTree(t *testing.T, a, b string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "diff", "-r", a, b).CombinedOutput(); err != nil {
		t.Errorf("%s and %s differ:\n%s", a, b, out)
	}
}

// Law: a campaign writes and prints the same bytes as one process.
func TestCampaignIsAsOneProcess(t *testing.T) {
	asWorker(t)
	_, text, _ := command(t, "list", "crash-restart")
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(mine, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		words []string
		out   string // the flag of the command for a directory
	}{
		"sweep":      {[]string{"sweep", "restart-delay", "--runs", "120", "--points", "1,7,200"}, "--out"},
		"boundary":   {[]string{"sweep", "restart-boundary", "--points", "1"}, "--out"},
		"own sweep":  {[]string{"sweep", mine, "--vary", "lock.ttl=500ms,2s", "--runs", "30"}, "--out"},
		"debate":     {[]string{"debate", "--runs", "20", "calm", "crash-restart"}, ""},
		"comparison": {[]string{"compare", "--runs", "12", "--locks", "redlock,etcd", "--trial", "crash"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one, spread := filepath.Join(dir, "one"), filepath.Join(dir, "spread")
			words := c.words
			if c.out != "" {
				words = append([]string{words[0], c.out, one}, words[1:]...)
			}
			code, here, problems := command(t, words...)
			if code == exitBadInput {
				t.Fatal(problems)
			}
			again, there, problems := command(t, append([]string{"campaign", "start", "--out", spread, "--shard-runs", "25"}, c.words...)...)
			want(t, "exit code", again, code)
			want(t, "printed", there, here)
			want(t, "problems", problems, "")
			if c.out != "" {
				wantSameTree(t, one, spread)
			}
			if _, err := os.Stat(spread + ".campaign"); !os.IsNotExist(err) {
				t.Errorf("what the campaign kept is still there: %v", err)
			}
		})
	}
}

// An exploration in shards shows what explore --merge shows of the same shards.
func TestCampaignOfAnExploration(t *testing.T) {
	asWorker(t)
	dir := t.TempDir()
	words := []string{"crash-restart", "--deviations", "1"}
	var states []string
	for i := 1; i <= 3; i++ {
		state := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		command(t, append([]string{"explore", "--shard", fmt.Sprintf("%d/3", i), "--state", state}, words...)...)
		states = append(states, state)
	}
	code, merged, _ := command(t, append([]string{"explore", "--merge", strings.Join(states, ",")}, words...)...)
	again, spread, problems := command(t, append([]string{"campaign", "start", "--out", dir + "/out", "explore", "--shards", "3"}, words...)...)
	want(t, "exit code", again, code)
	want(t, "printed", spread, merged)
	want(t, "problems", problems, "")
	if _, err := os.Stat(dir + "/out/exploration.json"); err != nil {
		t.Error(err)
	}
}

// childrenOf returns the processes that any thread of a process has started.
func childrenOf(pid int) (list []string) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, path := range threads {
		text, _ := os.ReadFile(path) // or the thread has ended
		list = append(list, strings.Fields(string(text))...)
	}
	return list
}

// A campaign that is killed goes on where it was, and ends as one process would have; nothing that it
// started survives.
func TestCampaignThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	one, spread := filepath.Join(dir, "one"), filepath.Join(dir, "spread")
	words := []string{"sweep", "restart-delay", "--runs", "400", "--points", "1,2,3,4,5,6,7,8,9,10"}
	command(t, append([]string{words[0], "--out", one}, words[1:]...)...)
	args := append([]string{"campaign", "start", "--out", spread, "--shard-runs", "20", "--workers", "2"}, words...)
	killed := 0
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		soon(t, "the campaign has begun", func() bool {
			return len(childrenOf(cmd.Process.Pid)) == 2
		})
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed++
		}
	}
	if killed == 0 {
		t.Error("no campaign was killed")
	}
	asWorker(t)
	code, _, problems := command(t, args...)
	if code == exitBadInput {
		t.Fatal(problems)
	}
	wantSameTree(t, one, spread)
	left, err := filepath.Glob(dir + "/lockstorm*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// On servers of the user's, workers come and go: one is killed in the middle of its work.
func TestCampaignOnServers(t *testing.T) {
	asWorker(t)
	url, dir := startNATS(t), t.TempDir()
	one, spread := filepath.Join(dir, "one"), filepath.Join(dir, "spread")
	words := []string{"sweep", "restart-delay", "--runs", "200", "--points", "1,2,3,4,5,6,7,8,9,10"}
	command(t, append([]string{words[0], "--out", one}, words[1:]...)...)

	code, out, problems := command(t, append([]string{"campaign", "start", "--nats", url, "--name", "delay", "--detach", "--shard-runs", "20"}, words...)...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "printed", out, "delay: 100 shards are queued\n")
	want(t, "problems", problems, "")
	code, _, problems = command(t, "campaign", "merge", "--nats", url, "delay", "--out", spread)
	want(t, "exit code", code, exitUndecided)
	wantIn(t, problems, "campaign delay: 100 of 100 shards are missing")

	worker := func() *exec.Cmd {
		return exec.CommandContext(t.Context(), os.Args[0], "work", "--nats", url, "--workers", "1", "--once")
	}
	victim := worker()
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	soon(t, "a shard is done", func() bool {
		_, out, _ := command(t, "campaign", "status", "--nats", url, "--json")
		return !strings.Contains(out, `"done": 0,`)
	})
	_ = victim.Process.Kill()
	_ = victim.Wait() // which was killed
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if out, err := worker().CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	code, out, problems = command(t, append([]string{"campaign", "start", "--nats", url, "--name", "delay", "--out", spread, "--shard-runs", "20"}, words...)...)
	if code == exitBadInput {
		t.Fatal(problems)
	}
	wantSameTree(t, one, spread)
	again, merged, problems := command(t, "campaign", "merge", "--nats", url, "delay", "--out", dir+"/merged")
	want(t, "exit code of merge", again, code)
	want(t, "printed by merge", merged, out)
	want(t, "problems of merge", problems, "")
	wantSameTree(t, one, dir+"/merged")

	_, out, _ = command(t, "campaign", "status", "--nats", url)
	wantIn(t, out, "delay", "complete", "100/100")
	code, _, problems = command(t, "campaign", "stop", "--nats", url, "delay", "--remove")
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	_, out, _ = command(t, "campaign", "status", "--nats", url)
	wantIn(t, out, "There are no campaigns.\n") // the worker that was killed may still be listed
}

func TestCampaignRejectsBadInput(t *testing.T) {
	asWorker(t)
	url, dir := startNATS(t), t.TempDir()
	for want, args := range map[string][]string{
		`unknown command of a campaign "swep": there is sweep, debate, compare, explore`: {"start", "--out", dir + "/x", "swep"},
		`sweep: unknown sweep "restart-dela"`:                                            {"start", "--out", dir + "/x", "sweep", "restart-dela"},
		"flags of a campaign come before its command":                                    {"start", "--out", dir + "/x", "sweep", "drift", "--out", dir + "/x"},
		"--out: want a directory":                                                        {"start", "sweep", "drift"},
		"--workers 0: want at least 1":                                                   {"start", "--out", dir + "/x", "--workers", "0", "sweep", "drift"},
		"--bucket needs --nats":                                                          {"start", "--out", dir + "/x", "--bucket", "mem://", "sweep", "drift"},
		"--shard-runs 0: want at least 1":                                                {"start", "--out", dir + "/x", "--shard-runs", "0", "sweep", "drift"},
		"shards of up to 1 run: want at most 100,000":                                    {"start", "--out", dir + "/x", "--shard-runs", "1", "sweep", "restart-delay"},
		"debate: --runs 0: want at least 1":                                              {"start", "--out", dir + "/x", "debate", "--runs", "0"},
		"campaign none: there is no such campaign":                                       {"merge", "--nats", url, "none"},
		`campaign "../x": want a name`:                                                   {"stop", "--nats", url, "../x"},
		"--nats: want the URL":                                                           {"status"},
		"other users can see a password":                                                 {"status", "--nats", "nats://me:secret@127.0.0.1:1"},
		"--nats: nats://127.0.0.1:1: nats: no servers available":                         {"status", "--nats", "nats://127.0.0.1:1"},
		"--creds needs --nats":                                                           {"status", "--creds", "x"},
	} {
		code, _, problems := command(t, append([]string{"campaign"}, args...)...)
		if code != exitBadInput || strings.Count(problems, "\n") != 1 || !strings.Contains(problems, want) || strings.Contains(problems, "secret") {
			t.Errorf("%q: exit code %d, want %q, got %s", args, code, want, problems)
		}
	}
}

// A process that makes shards goes on after a signal: the worker that has started it decides when it ends.
func TestShardsIgnoreSignals(t *testing.T) {
	asWorker(t)
	o := startOptions{size: 10, builds: 1, limits: campaign.DefaultLimits}
	words := []string{"sweep", "restart-delay", "--runs", "10", "--points", "1"}
	work, err := openDivided(t.Context(), words, division{o.size, findAnd})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := o.spec(words, work)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "campaign", "shards")
	r, err := campaign.StartProcess(t.Context(), cmd, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGTERM} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), 0, nil); err != nil {
			t.Errorf("after %v: %v", s, err)
		}
	}
}

// A worker that is stopped before --once has an end fails, so that a scheduler starts it again.
func TestStoppedWorkerIsNotDone(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for once, code := range map[bool]error{false: nil, true: verdictError(exitUndecided)} {
		o := workOptions{once: once}
		want(t, fmt.Sprintf("error with --once=%v", once), o.work(ctx, nil, campaign.Build{}, io.Discard, io.Discard), code)
	}
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

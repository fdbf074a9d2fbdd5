package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program that go build -tags simulated makes has no library that talks to servers, runs what is
// simulated as the whole program does, and names what it was built without.
func TestSimulatedBuild(t *testing.T) {
	heavy := []string{"github.com/redis/go-redis", "github.com/testcontainers/", "go.etcd.io/", "github.com/jackc/pgx", "github.com/go-zookeeper/"}
	deps := goTool(t, "list", "-deps", "-tags", "simulated", ".")
	for _, h := range heavy {
		if strings.Contains(deps, "\n"+h) {
			t.Errorf("it is built with %s", h)
		}
	}
	built := filepath.Join(t.TempDir(), "lockstorm")
	goTool(t, "build", "-pgo=off", "-tags", "simulated", "-o", built, "../../cmd/lockstorm")
	run := func(args ...string) (code int, out string) {
		cmd := exec.CommandContext(t.Context(), built, args...)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "NO_COLOR=1")
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(text)
	}

	debate := []string{"debate", "calm", "crash-restart", "--runs", "5"}
	code, out := run(debate...)
	same, whole, _ := command(t, debate...)
	want(t, "exit code of the debate", code, same)
	want(t, "the debate", out, whole)

	for _, c := range serverCommands() {
		code, out := run(c.Name(), "--help")
		want(t, "exit code of "+c.Name(), code, exitBadInput)
		want(t, c.Name(), out, "lockstorm: lockstorm "+c.Name()+" is not in this lockstorm, which was built with -tags simulated: build it without\n")
	}
	for _, b := range serverBackends {
		code, out := run("run", "calm", "--backend", b.Name)
		want(t, "exit code of "+b.Name, code, exitBadInput)
		want(t, b.Name, out, "lockstorm: --backend "+b.Name+" is not in this lockstorm, which was built with -tags simulated: build it without\n")
	}
	code, out = run("tune", "--measure", "127.0.0.1:1")
	want(t, "exit code of --measure", code, exitBadInput)
	wantIn(t, out, "--measure is not in this lockstorm")
}

// goTool runs the go command in this package and returns what it prints.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return "\n" + string(out)
}

//go:build linux

package cli

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// ownKeys counts our keys on all servers, and checks that their owner's is there.
func ownKeys(t *testing.T, f *redisserver.Fleet) (n int) {
	t.Helper()
	for _, s := range f.Servers() {
		n += len(servertest.Ours(t, s))
	}
	return n
}

// A row of the debate on servers of the user's own comes out as in the simulator, and
// leaves nothing there. One server more than the row needs is not used.
func TestRowOnServersOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	f, list := servertest.Lent(t, 6)
	addrs := strings.Join(list, ",")
	for _, s := range f.Servers()[:5] {
		servertest.Do(t, s, "CONFIG SET requirepass secret")
	}
	password, out := filepath.Join(t.TempDir(), "password"), t.TempDir()
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "fence-increment", "--backend", "addr", "--redis", addrs, "--redis-password-file", password, "--out", out}

	code, _, problems := command(t, args...)
	want(t, "exit code", code, exitBadInput)
	want(t, "lines", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "--confirm-these-servers", "lockstorm:*", f.Server(1).Addr())

	code, text, problems := decided(t, append(args, "--confirm-these-servers")...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantIn(t, text, "fence-increment: as expected", "fence order violated")
	stored, err := os.ReadFile(filepath.Join(out, "fence-increment-addr-1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(stored), `"redis-server": "`)
	if strings.Contains(string(stored), "secret") {
		t.Error("the password is stored")
	}
	for _, s := range f.Servers()[:5] {
		if err := passwordless(s); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "keys of ours", ownKeys(t, f), 0)
}

// Over TLS, with certificates on both sides, clients can be processes of their own.
func TestClientsApartSpeakTLS(t *testing.T) {
	t.Parallel()
	f, _ := servertest.Lent(t, 5)
	authority := testkit.NewAuthority(t)
	var list []string
	for _, s := range f.Servers() {
		list = append(list, authority.Secure(t, s))
	}
	args := []string{"run", "fence-increment", "--backend", "addr", "--clients", "processes", "--confirm-these-servers", "--out", "",
		"--redis", strings.Join(list, ","), "--redis-tls", "--redis-cert", authority.File("node.pem"), "--redis-key", authority.File("node.key")}
	code, text, problems := decided(t, append(args, "--redis-ca", authority.File("ca.pem"))...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantIn(t, text, "fence-increment: as expected", "fence order violated")
	want(t, "keys of ours", ownKeys(t, f), 0)

	code, _, problems = command(t, append(args, "--redis-ca", authority.File("node.key"))...)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--redis-ca "+authority.File("node.key")+" has no certificate")
}

// passwordless takes the password of a server back.
func passwordless(s *redisserver.Server) error {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("AUTH secret\r\nCONFIG SET requirepass \"\"\r\n")); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, len("+OK\r\n+OK\r\n")))
	return err
}

// An unusable server gives one line that names its address, and nothing runs.
func TestServersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	f, list := servertest.Lent(t, 5)
	addrs := strings.Join(list, ",")
	_, port, _ := net.SplitHostPort(list[0])
	for name, c := range map[string]struct {
		args  string
		parts []string
	}{
		"none":           {"--confirm-these-servers", []string{"--redis host:port"}},
		"no port":        {"--redis localhost", []string{`"localhost"`, "host:port"}},
		"too few":        {"--confirm-these-servers --redis " + strings.Join(list[:3], ","), []string{"too few servers: 3 for 5 nodes", "who can: sim, process, container, addr with other flags"}},
		"one twice":      {"--confirm-these-servers --redis " + addrs + "," + list[1], []string{list[1] + " twice"}},
		"one by another": {"--confirm-these-servers --redis " + strings.Join(list[:4], ",") + ",localhost:" + port, []string{list[0], "localhost:" + port, "same server"}},
		"nobody":         {"--confirm-these-servers --redis " + strings.Join(list[:4], ",") + ",127.0.0.1:1", []string{"127.0.0.1:1: nobody answers"}},
		"no TLS":         {"--confirm-these-servers --redis-tls --redis " + addrs, []string{strings.Join(list[:4], ", ") + " and " + list[4] + " each does not support TLS: it is a Redis without TLS (without --redis-tls)"}},
		"no password":    {"--redis-user alice --redis " + addrs, []string{"--redis-password-file", passwordEnv}},
		"another world":  {"--redis-db 1 --backend process", []string{"--redis-db needs --backend addr"}},
		"for TLS only":   {"--redis-ca somewhere --redis " + addrs, []string{"--redis-tls"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, _, problems := command(t, append([]string{"run", "calm", "--backend", "addr", "--out", dir}, strings.Fields(c.args)...)...)
			want(t, "exit code", code, exitBadInput)
			want(t, "lines", strings.Count(problems, "\n"), 1)
			wantIn(t, problems, c.parts...)
			if entries, _ := os.ReadDir(dir); len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
	want(t, "keys of ours", ownKeys(t, f), 0)
}

// A file can be checked for such servers without any.
func TestValidateForServersOfTheUsersOwn(t *testing.T) {
	_, text, _ := command(t, "list", "crash-restart")
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "run", "--check-only", "--backend", "addr", file)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, out, "the addr backend cannot carry out fault 2 of the plan, a crash (who can: ")
	_, text, _ = command(t, "list", "calm")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ = command(t, "run", "--check-only", "--backend", "addr", file)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "ok")
}

// Ctrl-C in the middle of a run leaves no key.
func TestInterruptLeavesNoKey(t *testing.T) {
	t.Parallel()
	f, list := servertest.Lent(t, 5)
	cmd := exec.Command(os.Args[0], "run", "pause-after-step-3", "--backend", "addr", "--confirm-these-servers", "--redis", strings.Join(list, ","), "--runs", "100", "--out", t.TempDir())
	cmd.Env = append(os.Environ(), asCommand+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	soon(t, "it has set keys", func() bool { return ownKeys(t, f) > 0 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
	}
	want(t, "exit code", cmd.ProcessState.ExitCode(), exitUndecided)
	want(t, "keys of ours", ownKeys(t, f), 0)
}

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A server under another name and path is used, and its version stored under that name.
func TestServerByItsPathOnRealServers(t *testing.T) {
	redis, err := exec.LookPath(localServer)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := filepath.Join(dir, "other-server")
	if err := os.Symlink(redis, other); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "runs")
	if code, printed, said := command(t, "run", "calm", "--backend", "process:"+other, "--out", out); code != exitAsExpected && code != exitUndecided { // on a busy machine clean-up is unknown
		t.Fatalf("exit code %d: %s\n%s", code, said, printed)
	}
	stored, err := os.ReadFile(filepath.Join(out, "calm-process-1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(stored); !strings.Contains(text, `"other-server": "`) || strings.Contains(text, `"redis-server"`) {
		t.Errorf("no version of other-server in %s", text)
	}
}

func TestServerThatIsNone(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--backend", "process:/nowhere/valkey-server"}, "/nowhere/valkey-server"},
		{[]string{"--backend", "process:/bin/true"}, "true on 127.0.0.1:"},
		{[]string{"--backend", "sim:/bin/true"}, "want sim, process[:SERVER], container[:IMAGE]"},
	} {
		code, _, said := command(t, append([]string{"run", "calm", "--out", ""}, c.args...)...)
		if code != exitBadInput || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, want %q", c.args, code, said, c.want)
		}
	}
}

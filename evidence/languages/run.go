package languages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// root is the root of the repository.
const root = "../.."

// usualTTL is the TTL of all locks on the page. Calls that are told to end have three more for it; a
// release that is answered when the key is gone anyway is of no use to anybody.
const usualTTL = "2s"

// flags are those of all subjects.
var flags = []string{"--budget", "1h", "--format", "json"}

// Run is a line of lockstorm test --format json, of a run.
type Run struct {
	Scenario string            `json:"scenario"`
	Verdicts map[string]string `json:"verdicts"`
	Limits   map[string]string `json:"limits,omitempty"` // violations that nothing promises, with the reason
	Stories  map[string]string `json:"stories,omitempty"`
	Slipped  bool              `json:"slipped,omitempty"`
	Dir      string            `json:"dir,omitempty"`
}

// try runs a subject through storms. The runs are stored in a directory.
func (s Subject) try(lockstorm, out, ttl string, storms []string, more ...string) ([]Run, error) {
	args := append([]string{"test", "--nodes", fmt.Sprint(s.Nodes), "--ttl", ttl, "--storm", strings.Join(storms, ","), "--out", out,
		"--config", "evidence/languages/" + cmp.Or(s.Config, "config.yaml")}, flags...)
	cmd := exec.Command(lockstorm, slices.Concat(args, more, []string{"--"}, s.Command())...)
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stderr = &said
	lines, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3) {
		err = nil // a verdict
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.Name, err, &said)
	}
	var runs []Run
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var r Run
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		if r.Scenario != "" { // otherwise it is the line of a storm, or the last one
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// python returns a Python that has redis-py: the one in PATH, or that of the distribution, for which
// its packages are.
func python() string {
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import redis").Run() == nil {
			return p
		}
	}
	return ""
}

// missing says what a subject needs and this machine has not, or "".
func (s Subject) missing() string {
	command := s.Command()
	if command[0] == "" {
		return "no python3 has redis-py (Debian: python3-redis)"
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return err.Error()
	}
	if _, err := s.version(); err != nil {
		return err.Error()
	}
	return ""
}

// version returns the versions of the library and of what it is used with.
func (s Subject) version() (string, error) {
	cmd := exec.Command(s.Command()[0], s.Version...)
	cmd.Dir = root
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s is not installed (sh scripts/deps.sh languages; npm ci --prefix examples/node; npm ci --prefix evidence/languages/npm): %w", s.Library, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// codes are the properties that are judged, by their codes and their names in JSON.
var codes = []struct{ code, name string }{{"B", "backing"}, {"V1", "lease"}, {"V2", "section"}, {"V3", "effect"}, {"L1", "deadlock_freedom"}, {"L2", "fault_tolerance"}, {"L3", "cleanup"}, {"C", "contract"}}

func nameOf(code string) string {
	i := slices.IndexFunc(codes, func(c struct{ code, name string }) bool { return c.code == code })
	return codes[i].name
}

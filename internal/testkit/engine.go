package testkit

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// NeedEngine skips the test, and says so, where there is no engine. "sh scripts/engine.sh COMMAND" starts one.
func NeedEngine(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("left out, for there is no Docker engine (scripts/engine.sh starts one): %v: %s", err, bytes.TrimSpace(out))
	}
}

// OurContainers lists the names of the containers and images that bear our label.
func OurContainers(t *testing.T) []string {
	t.Helper()
	return append(lines(t, "ps", "--all", "--filter", "label=lockstorm", "--format", "{{.Names}}"),
		lines(t, "images", "--filter", "label=lockstorm", "--format", "{{.Repository}}:{{.Tag}}")...)
}

// lines are those that the client of the engine prints.
func lines(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("docker", args...).Output()
	if err != nil {
		t.Fatalf("docker %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}

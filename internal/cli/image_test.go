//go:build linux

package cli

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// maxImage is the size in bytes below which the image of a release stays.
const maxImage = 40e6

// The image of a release is small and runs the debate, not as root. It has no playground here, which
// needs npm; scripts/release-check.sh checks the size of the program with it.
func TestContainerImageOfARelease(t *testing.T) {
	testkit.NeedEngine(t)
	before := testkit.OurContainers(t)
	t.Cleanup(func() { // after the image is removed
		left := slices.DeleteFunc(testkit.OurContainers(t), func(n string) bool { return slices.Contains(before, n) })
		want(t, "what is left", strings.Join(left, " "), "")
	})
	image := releaseImage(t)

	_, size := docker(t, "image", "inspect", "--format", "{{.Size}}", image)
	if n, err := strconv.Atoi(strings.TrimSpace(size)); err != nil || n >= maxImage {
		t.Errorf("the image has %s bytes; want less than %.0f (%v)", size, maxImage, err)
	}
	_, cmd := docker(t, "image", "inspect", "--format", "{{json .Config.Cmd}}", image)
	want(t, "what it runs by default", strings.TrimSpace(cmd), `["debate"]`)

	run := func(args ...string) (code int, out string) {
		return docker(t, slices.Concat([]string{"run", "--rm", "--network", "none", "--label", "lockstorm", image}, args)...)
	}
	code, out := run("--version")
	want(t, "exit code of --version", code, exitAsExpected)
	wantIn(t, out, "lockstorm ", "\ngo "+runtime.Version()+"\n")
	debate := []string{"debate", "calm", "crash-restart", "--runs", "5"}
	code, out = run(debate...)
	same, whole, _ := command(t, debate...)
	want(t, "exit code of the debate", code, same)
	want(t, "the debate", out, whole)
	code, _ = run("debate", "--no-such-flag")
	want(t, "exit code of a bad flag", code, exitBadInput)

	want(t, "user", ownerOfRun(t, image), 65532)
}

// releaseImage builds the image of .goreleaser.yaml's simulator as goreleaser does, and removes it at the end.
func releaseImage(t *testing.T) (name string) {
	t.Helper()
	dir, platform := t.TempDir(), "linux/"+runtime.GOARCH
	t.Setenv("CGO_ENABLED", "0")
	goTool(t, "build", "-pgo=off", "-trimpath", "-ldflags=-s -w", "-tags", "simulated", "-o", filepath.Join(dir, filepath.FromSlash(platform), "lockstorm"), "../../cmd/lockstorm")
	if err := os.CopyFS(filepath.Join(dir, "image"), os.DirFS(filepath.Join(sources, "image"))); err != nil {
		t.Fatal(err)
	}
	license, err := os.ReadFile(filepath.Join(sources, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "LICENSE"), string(license))
	write(t, filepath.Join(dir, "release", "THIRD_PARTY_NOTICES"), "made by the release\n")
	t.Setenv("DOCKER_BUILDKIT", "0") // buildx need not be installed
	name = fmt.Sprintf("lockstorm-release:%d", os.Getpid())
	t.Cleanup(func() { docker(t, "image", "rm", "--force", name) })
	code, out := docker(t, "build", "--quiet", "--label", "lockstorm", "--build-arg", "TARGETPLATFORM="+platform,
		"--file", filepath.Join(dir, "image", "Dockerfile"), "--tag", name, dir)
	if code != 0 {
		t.Fatalf("docker build: %d: %s", code, out)
	}
	return name
}

// ownerOfRun returns the user ID of the files that a run in the image stores.
func ownerOfRun(t *testing.T, image string) (uid int) {
	t.Helper()
	container := fmt.Sprintf("lockstorm-release-%d", os.Getpid())
	t.Cleanup(func() { docker(t, "rm", "--force", container) })
	if code, out := docker(t, "run", "--network", "none", "--label", "lockstorm", "--name", container, image, "run", "calm", "--out", "kept"); code != exitAsExpected {
		t.Fatalf("run calm: exit code %d: %s", code, out)
	}
	code, archive := docker(t, "cp", container+":/data/kept", "-")
	files, owners := tar.NewReader(strings.NewReader(archive)), map[int]bool{}
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("docker cp: %d, %v", code, err)
		}
		uid = h.Uid
		owners[uid] = true
	}
	if len(owners) != 1 {
		t.Fatalf("owners of what a run stores: %v", owners)
	}
	return uid
}

// docker runs Docker's client. It returns the exit code, which is the container's if there is one, and
// the standard output.
func docker(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command("docker", args...) // not bound to the test's context: cleanup runs after its end
	var problems bytes.Buffer
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Logf("docker %s: %v: %s", strings.Join(args, " "), err, problems.String())
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

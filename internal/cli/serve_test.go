package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page is served from a directory, or from the program if that was built with it, at each address that
// is printed, until the context ends.
func TestServe(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0", ":0"} {
		t.Run(address, func(t *testing.T) { serves(t, address) })
	}
}

func serves(t *testing.T, address string) {
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- execute(ctx, []string{"serve", "--files", playgroundFiles(t), "--address", address}, strings.NewReader(""), out, io.Discard)
	}()
	said, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(strings.TrimSpace(strings.TrimPrefix(said, "the playground is at ")), ", ")
	for _, page := range pages {
		response, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.Contains(string(text), `content="api/runs"`) {
			t.Errorf("%s is %q, %v", page, text, err)
		}
	}
	stop()
	want(t, "exit code", <-ended, exitAsExpected)
	if response, err := http.Get(pages[0]); err == nil {
		_ = response.Body.Close()
		t.Error("the page is still served")
	}
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		error string
	}{
		{[]string{"--files", filepath.Join(dir, "none")}, "--files: "},
		{[]string{"--files", dir}, "the files of the playground: "},
		{[]string{"--address", "localhost"}, "--address localhost: want HOST:PORT"},
		{[]string{"x"}, `unexpected argument "x": want lockstorm serve`},
	} {
		code, _, problems := command(t, append([]string{"serve", "--files", playgroundFiles(t)}, c.args...)...)
		want(t, strings.Join(c.args, " "), code, exitBadInput)
		wantIn(t, problems, c.error)
	}
}

// playgroundFiles returns a directory with a page.
func playgroundFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(`<meta name="stored-runs" content="">`), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A link of the playground is the run of its replay string, or of the scenario in it.
func TestReplayOfALink(t *testing.T) {
	t.Parallel()
	const link = "https://example.org/p/#/run?replay=v1.crash-restart.1.13da9815.ea4e"
	code, out, problems := command(t, "replay", link, "--out", t.TempDir())
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantIn(t, out, "the same run: its trace is 13da9815")
	for link, said := range map[string]string{
		"https://example.org/#/run?seed=1":                          "the link is not whole",
		"https://example.org/#/run?replay=v1.crash-restart.1.13da9": "the link is not whole",
	} {
		code, _, problems := command(t, "replay", link)
		want(t, link, code, exitBadInput)
		wantIn(t, problems, said)
	}
	code, _, problems = command(t, "replay", link, "--scenario", "x.yaml")
	want(t, "with --scenario", code, exitBadInput)
	wantIn(t, problems, "a link has its scenario")
}

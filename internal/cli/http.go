package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/playground/front"
	"github.com/lockstorm/lockstorm/internal/playground/host"
)

// httpOptions are the flags of report that serve pages.
type httpOptions struct {
	address string
	open    bool // in the browser
}

// playgroundFiles returns the files of the playground, and whether this program was built with them. Tests
// change it.
var playgroundFiles = front.Files

// serve serves the pages of what is stored in some directories, and the playground, until the context ends.
func (o httpOptions) serve(cmd *cobra.Command, dirs []string, page func(context.Context) ([]byte, error)) error {
	name, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return fmt.Errorf("--http %s: want HOST:PORT", o.address)
	}
	h, what := host.Host{Runs: dirs, Names: []string{name}, Report: page}, "the report"
	if files, built := playgroundFiles(); built {
		h.Files, what = files, "the playground"
	}
	handler, err := h.Handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return fmt.Errorf("--http %s: %w", o.address, err)
	}
	pages := pagesOf(name, listener.Addr())
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is at %s\n", what, strings.Join(pages, ", "))
	if o.open {
		if err := openPage(pages[0]); err != nil {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "lockstorm: no browser was opened: %v\n", err)
		}
	}
	return until(cmd.Context(), &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}, listener)
}

// pagesOf returns the addresses of the page of a server that listens on a host, or on all interfaces if
// that is a wildcard. The first one is for this machine.
func pagesOf(name string, at net.Addr) (pages []string) {
	names := []string{name}
	if host.IsWildcard(name) {
		names = append([]string{"localhost"}, ownAddresses()...)
	}
	_, port, _ := net.SplitHostPort(at.String())
	for _, n := range names {
		pages = append(pages, "http://"+net.JoinHostPort(n, port)+"/")
	}
	return pages
}

// ownAddresses returns the addresses of this machine that others may reach.
func ownAddresses() (list []string) {
	all, _ := net.InterfaceAddrs() // without them there is still the page for this machine
	for _, a := range all {
		if n, is := a.(*net.IPNet); is && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// until serves until the context ends, and then lets the requests under way end.
func until(ctx context.Context, server *http.Server, listener net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	rest, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	if err := server.Shutdown(rest); err != nil {
		_ = server.Close()
	}
	return nil
}

// openPage opens a page in the user's browser.
func openPage(page string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", page).Start()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", page).Start()
	}
	return exec.Command("xdg-open", page).Start()
}

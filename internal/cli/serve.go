package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/playground/front"
	"github.com/lockstorm/lockstorm/internal/playground/host"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	address string
	runs    string
	files   string
	open    bool
}

func newServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the playground, and the stored runs in it",
		Long: `Serve the playground on this machine: a page that runs the debate, any scenario of yours
and the checker in the browser. It lists the stored runs, too, and shows a run on real
servers while it goes on.

Only this machine can reach the page, unless --address says otherwise. Ctrl-C ends it.`,
		Example: `  lockstorm serve --open
  lockstorm serve --address 127.0.0.1:9000 --runs results/nightly`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.serve(cmd) },
	}
	cmd.Flags().StringVar(&o.address, "address", "127.0.0.1:8642", "address to listen on")
	cmd.Flags().StringVar(&o.runs, "runs", "runs", "directory of the stored runs")
	cmd.Flags().StringVar(&o.files, "files", "", "directory of the built playground (default: the one in this program)")
	cmd.Flags().BoolVar(&o.open, "open", false, "open the page in the browser")
	return cmd
}

// serve serves until the context ends.
func (o serveOptions) serve(cmd *cobra.Command) error {
	files, err := o.playground()
	if err != nil {
		return err
	}
	name, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return fmt.Errorf("--address %s: want HOST:PORT", o.address)
	}
	handler, err := host.Host{Files: files, Runs: o.runs, Names: []string{name}}.Handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return fmt.Errorf("--address %s: %w", o.address, err)
	}
	pages := pagesOf(name, listener.Addr())
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "the playground is at %s\n", strings.Join(pages, ", "))
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

// playground returns the files of the page.
func (o serveOptions) playground() (fs.FS, error) {
	if o.files != "" {
		if _, err := files.Stat(o.files); err != nil {
			return nil, fmt.Errorf("--files: %w", err)
		}
		return os.DirFS(o.files), nil
	}
	files, ok := front.Files()
	if !ok {
		return nil, errors.New("this program was built without the playground: make playground builds one with it")
	}
	return files, nil
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

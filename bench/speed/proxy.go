package speed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/wire"
)

// proxy is the process behind which a node lies, as who started it sees it.
type proxy struct {
	addr   string // where clients find the node
	cmd    *exec.Cmd
	orders io.WriteCloser
	says   *bufio.Scanner
}

// The variable that makes a program with [ServeProxy] a proxy: of which network, and to
// which node.
const proxyEnv = "LOCKSTORM_BENCH_PROXY"

// startProxy starts the same program again, as the proxy of a network to the node.
func startProxy(n Network, node string, start func(*exec.Cmd) error) (*proxy, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &proxy{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), proxyEnv+"="+n.Name+" "+node)
	p.cmd.Stderr = os.Stderr
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.says = bufio.NewScanner(said)
	if p.orders, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := start(p.cmd); err != nil {
		return nil, err
	}
	if p.addr, err = p.hear(); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// hear returns the next line that the proxy says.
func (p *proxy) hear() (string, error) {
	if !p.says.Scan() {
		return "", fmt.Errorf("the proxy says nothing: %w", errors.Join(p.says.Err(), io.ErrUnexpectedEOF))
	}
	return p.says.Text(), nil
}

// strike orders the trouble, and returns when it is there.
func (p *proxy) strike() error {
	if _, err := fmt.Fprintln(p.orders); err != nil {
		return fmt.Errorf("the proxy takes no orders: %w", err)
	}
	_, err := p.hear()
	return err
}

// end has the process end. It does so too when we die, for then there are no more orders.
func (p *proxy) end() error {
	return errors.Join(p.orders.Close(), p.cmd.Wait())
}

// ServeProxy reports whether this process is a proxy that [Network.Open] has started; by
// then it has served, until there were no more orders. Every program that opens networks
// has to call it first.
func ServeProxy() bool {
	name, node, is := strings.Cut(os.Getenv(proxyEnv), " ")
	if !is {
		return false
	}
	for _, n := range Networks() {
		if n.Name == name {
			if err := n.serve(node, os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, "proxy:", err)
				os.Exit(1)
			}
		}
	}
	return true
}

// serve is a proxy to the node. It says where it is found; each line that comes in is the
// order to strike, and is answered with a line.
func (n Network) serve(node string, orders io.Reader, says io.Writer) error {
	way, err := wire.Open(1, []string{node})
	if err != nil {
		return err
	}
	defer way.Close()
	link := way.Link(1, 1)
	if _, err := fmt.Fprintln(says, link.Addr()); err != nil {
		return err
	}
	lines := bufio.NewScanner(orders)
	for lines.Scan() {
		n.strike(link)
		if _, err := fmt.Fprintln(says, "struck"); err != nil {
			return err
		}
	}
	return lines.Err()
}

// strike brings the network's trouble on a link.
func (n Network) strike(link *wire.Link) {
	if r := n.trouble; r != nil {
		link.Requests.Impose(1, *r)
		if r.Holds != nil {
			link.Replies.Impose(1, *r)
		}
	}
}

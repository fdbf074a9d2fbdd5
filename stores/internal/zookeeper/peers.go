package zookeeper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
)

// leaderPatience is how long a proxy waits for a leader to open its port. A follower is often faster than
// the leader: it tries again when its connection is refused, but if it is closed the follower goes on to
// the next election, and the leader waits for followers for the whole initLimit.
const leaderPatience = syncLimit * tick

// connect makes the links between the members: one for each of their two ports. Each member knows the
// others by addresses of its own, and itself by the ports that it opens.
func connect(servers []*Server) (links live.PeerLinks, err error) {
	var quorum, votes []string
	for _, s := range servers {
		quorum, votes = append(quorum, s.Ports[1].Addr()), append(votes, s.Ports[2].Addr())
	}
	for _, addrs := range [][]string{quorum, votes} {
		network, err := wire.Open(len(servers), addrs)
		if err != nil {
			links.Close()
			return nil, err
		}
		links = append(links, network)
	}
	for _, s := range servers {
		s.members, s.quorum, s.votes = servers, links[0], links[1]
		for _, m := range servers {
			s.quorum.Link(s.Number, m.Number).Retry(leaderPatience)
			s.votes.Link(s.Number, m.Number).Rewrite(withoutAddress)
		}
	}
	return links, nil
}

// server returns what the member's configuration says of another member, or of itself.
func (s *Server) server(m *Server) string {
	quorum, votes := s.quorum.Link(s.Number, m.Number).Addr(), s.votes.Link(s.Number, m.Number).Addr()
	if s == m {
		quorum, votes = s.Ports[1].Addr(), s.Ports[2].Addr()
	}
	_, port, _ := net.SplitHostPort(votes)
	return fmt.Sprintf("server.%d=%s:%s", m.id, quorum, port)
}

// The first message on a connection for elections is -65536, the id of its sender, and its address with
// the length of that in front. Members of ZooKeeper 3.4 sent the id alone.
const (
	withAddress = -65536
	longest     = 1 << 10 // address
)

// withoutAddress replaces the first message on a connection for elections by that of an earlier
// version. Of two members the one with the higher id connects; if the other one does, it connects back to
// the address in the message, past the proxy. Without an address it uses its own configuration.
func withoutAddress(in io.Reader) io.Reader {
	var first struct {
		Version, ID int64
		Length      int32
	}
	if err := binary.Read(in, binary.BigEndian, &first); err != nil {
		return failed{fmt.Errorf("no first message: %s", err.Error())}
	}
	if first.Version != withAddress || first.Length < 0 || first.Length > longest {
		return failed{errors.New("no first message of a connection for elections")}
	}
	if _, err := io.CopyN(io.Discard, in, int64(first.Length)); err != nil {
		return failed{err}
	}
	return io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint64(nil, uint64(first.ID))), in)
}

// failed is a reader of nothing.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

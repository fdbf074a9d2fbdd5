package zookeeper

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// rawConn is a connection to a member that can watch all nodes at once (addWatch, since ZooKeeper
// 3.6), which the library of the clients cannot. Its calls are made one at a time.
type rawConn struct {
	conn    net.Conn
	reader  *bufio.Reader
	changed func(kind nodeEvent, path string)
	xid     int32
	stop    func() bool
}

// nodeEvent is a kind of notification.
type nodeEvent int32

const (
	nodeCreated nodeEvent = 1
	nodeDeleted nodeEvent = 2
	nodeChanged nodeEvent = 3 // its data
)

// The operations of ZooKeeper's protocol that are used here.
const (
	opGetData     = 4
	opSetData     = 5
	opGetChildren = 8
	opAddWatch    = 106

	recursive      = 1  // a mode of addWatch
	notification   = -1 // the xid of one
	codeNoNode     = -101
	maxPacket      = 1 << 24
	rawSessionTime = 10 * time.Second // the calls keep the session alive
)

var errNoNode = errors.New("there is no such node")

// dialRaw connects to a member. Calls report the notifications that they receive to changed. The
// connection breaks when ctx ends.
func dialRaw(ctx context.Context, addr string, changed func(nodeEvent, string)) (*rawConn, error) {
	dialing, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := live.DialServer(dialing, addr)
	if err != nil {
		return nil, err
	}
	c := &rawConn{conn: conn, reader: bufio.NewReader(conn), changed: changed}
	c.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	hello := new(packet).int32(0).int64(0).int32(int32(rawSessionTime.Milliseconds())).int64(0).text(string(make([]byte, 16)))
	if err := c.send(hello); err != nil {
		c.close()
		return nil, err
	}
	if _, err := c.receive(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *rawConn) close() {
	c.stop()
	_ = c.conn.Close()
}

// packet is the body of a message.
type packet []byte

func (p *packet) int32(v int32) *packet {
	*p = binary.BigEndian.AppendUint32(*p, uint32(v))
	return p
}

func (p *packet) int64(v int64) *packet {
	*p = binary.BigEndian.AppendUint64(*p, uint64(v))
	return p
}

func (p *packet) text(v string) *packet {
	*p = append(*p.int32(int32(len(v))), v...)
	return p
}

func (p *packet) bool(v bool) *packet {
	*p = append(*p, 0)
	if v {
		(*p)[len(*p)-1] = 1
	}
	return p
}

func (c *rawConn) send(p *packet) error {
	if err := c.conn.SetDeadline(time.Now().Add(lookTimeout)); err != nil {
		return err
	}
	message := append(binary.BigEndian.AppendUint32(nil, uint32(len(*p))), *p...)
	_, err := c.conn.Write(message)
	return err
}

func (c *rawConn) receive() (*body, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.reader, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxPacket {
		return nil, fmt.Errorf("a packet of %d bytes", size)
	}
	b := make(body, size)
	_, err := io.ReadFull(c.reader, b)
	return &b, err
}

// body is what is left to read of a message. What is not there reads as 0.
type body []byte

func (b *body) int32() int32 {
	if len(*b) < 4 {
		*b = nil
		return 0
	}
	v := int32(binary.BigEndian.Uint32(*b))
	*b = (*b)[4:]
	return v
}

func (b *body) text() string {
	n := max(b.int32(), 0) // -1: null
	if int(n) > len(*b) {
		n = int32(len(*b))
	}
	v := string((*b)[:n])
	*b = (*b)[n:]
	return v
}

// call makes a request and returns the body of the reply. Notifications before it are reported.
func (c *rawConn) call(op int32, request func(*packet)) (*body, error) {
	c.xid++
	p := new(packet).int32(c.xid).int32(op)
	request(p)
	if err := c.send(p); err != nil {
		return nil, err
	}
	for {
		b, err := c.receive()
		if err != nil {
			return nil, err
		}
		xid, code := b.header()
		switch {
		case xid == notification:
			c.notify(b)
		case xid != c.xid:
			return nil, fmt.Errorf("a reply to request %d, not %d", xid, c.xid)
		case code == codeNoNode:
			return nil, errNoNode
		case code != 0:
			return nil, fmt.Errorf("operation %d failed with code %d", op, code)
		default:
			return b, nil
		}
	}
}

// header reads the header of a reply.
func (b *body) header() (xid, code int32) {
	xid = b.int32()
	b.int32() // the transaction, in two halves
	b.int32()
	return xid, b.int32()
}

func (c *rawConn) notify(b *body) {
	kind := nodeEvent(b.int32())
	b.int32() // the state of the connection
	c.changed(kind, b.text())
}

// listen reports notifications for a while.
func (c *rawConn) listen(during time.Duration) error {
	end := time.Now().Add(during)
	for {
		if err := c.conn.SetReadDeadline(end); err != nil {
			return err
		}
		_, err := c.reader.Peek(1)
		var timeout net.Error
		switch {
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil
		case err != nil:
			return err
		}
		if err := c.conn.SetReadDeadline(time.Now().Add(lookTimeout)); err != nil {
			return err
		}
		b, err := c.receive()
		if err != nil {
			return err
		}
		if xid, _ := b.header(); xid != notification {
			return fmt.Errorf("a reply to request %d that was not made", xid)
		}
		c.notify(b)
	}
}

// watchAll asks for a notification of every node that comes or goes from now on.
func (c *rawConn) watchAll() error {
	_, err := c.call(opAddWatch, func(p *packet) { p.text("/").int32(recursive) })
	return err
}

// barrier is as for the library: see [barrier]. Notifications of all transactions before it come
// before its reply.
func (c *rawConn) barrier() error {
	_, err := c.call(opSetData, func(p *packet) { p.text("/").int32(-1).int32(-1) })
	return err
}

// children returns the names of the nodes below a path.
func (c *rawConn) children(path string) (names []string, err error) {
	b, err := c.call(opGetChildren, func(p *packet) { p.text(path).bool(false) })
	if err != nil {
		return nil, err
	}
	for n := b.int32(); n > 0 && len(*b) > 0; n-- {
		names = append(names, b.text())
	}
	return names, nil
}

// data returns the data of a node.
func (c *rawConn) data(path string) (string, error) {
	b, err := c.call(opGetData, func(p *packet) { p.text(path).bool(false) })
	if err != nil {
		return "", err
	}
	return b.text(), nil
}

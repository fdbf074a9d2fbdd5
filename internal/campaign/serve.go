package campaign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// order is a line that asks a process for a shard. The bytes of the others follow it.
type order struct {
	Shard  int         `json:"shard"`
	Others []otherSize `json:"others,omitempty"`
}

type otherSize struct {
	Shard int `json:"shard"`
	Size  int `json:"size"`
}

// reply is a line of a process that makes shards. A result's bytes follow it.
type reply struct {
	Size  int    `json:"size"`
	Find  string `json:"find,omitempty"`
	Error string `json:"error,omitempty"`
}

// request returns the order of a shard with the bytes that follow it.
func request(shard int, others []Other) ([]byte, error) {
	o := order{Shard: shard}
	var data [][]byte
	for _, other := range others {
		o.Others = append(o.Others, otherSize{other.Shard, len(other.Data)})
		data = append(data, other.Data)
	}
	line, err := json.Marshal(o)
	return append(append(line, '\n'), bytes.Join(data, nil)...), err
}

// Serve makes shards for the process that has started this one with [StartProcess]: it reads a spec and
// then orders, and writes a line and the result of each. It returns when there is nothing more to read,
// even if a shard is being made.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open func(context.Context, Spec) (Job, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := shardServer{in: bufio.NewReaderSize(in, maxMessage), open: open, asked: make(chan asked)}
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx) }()
	for {
		var a asked
		select {
		case err := <-ended:
			return err
		case a = <-s.asked:
		}
		made := make(chan error, 1)
		go func() {
			r, err := s.handle(ctx, a)
			made <- writeReply(out, r, err)
		}()
		select {
		case err := <-ended: // nobody waits for the shard
			return err
		case err := <-made:
			if err != nil {
				return err
			}
		}
	}
}

// shardServer makes the shards of one campaign.
type shardServer struct {
	in    *bufio.Reader
	open  func(context.Context, Spec) (Job, error)
	asked chan asked
	job   Job // nil until the spec has come
}

// asked is what is asked for: first the spec, then shards.
type asked struct {
	spec   []byte
	shard  int
	others []Other
}

// read passes on what is asked for until there is no more.
func (s *shardServer) read(ctx context.Context) error {
	for first := true; ; first = false {
		line, err := readLine(s.in, maxSpec+1024)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		a := asked{spec: line}
		if err == nil && !first {
			a, err = readOrder(s.in, line)
		}
		if err != nil {
			return err
		}
		select {
		case s.asked <- a:
		case <-ctx.Done():
			return nil
		}
	}
}

// readLine reads a line of at most so many bytes, without its end.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most:
			return nil, fmt.Errorf("a line of more than %d bytes", most)
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// readOrder reads an order with the bytes that follow its line.
func readOrder(in io.Reader, line []byte) (a asked, err error) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return a, err
	}
	if len(o.Others) > MaxDraws {
		return a, fmt.Errorf("%d others: want at most %d", len(o.Others), MaxDraws)
	}
	a.shard = o.Shard
	left := maxOthers
	for _, other := range o.Others {
		if other.Size < 0 || other.Size > left {
			return a, fmt.Errorf("shard %d has %d bytes: want 0 to %d", other.Shard, other.Size, left)
		}
		left -= other.Size
		data := make([]byte, other.Size)
		if _, err := io.ReadFull(in, data); err != nil {
			return a, err
		}
		a.others = append(a.others, Other{other.Shard, data})
	}
	return a, nil
}

// handle opens the job, or makes a shard of it.
func (s *shardServer) handle(ctx context.Context, a asked) (r Result, err error) {
	switch {
	case s.job == nil:
		s.job, err = openJob(ctx, a.spec, s.open)
		return r, err
	case a.shard < 0 || a.shard >= s.job.Shards():
		return r, fmt.Errorf("shard %d: want 0 to %d", a.shard, s.job.Shards()-1)
	}
	for _, other := range a.others {
		if other.Shard < 0 || other.Shard >= s.job.Shards() {
			return r, fmt.Errorf("it may draw from shard %d: want 0 to %d", other.Shard, s.job.Shards()-1)
		}
	}
	return s.job.Run(ctx, a.shard, a.others)
}

func openJob(ctx context.Context, text []byte, open func(context.Context, Spec) (Job, error)) (Job, error) {
	var s Spec
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	job, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	if job.Sum() != s.Sum || job.Shards() != s.Shards || job.Draws() != s.Draws {
		return nil, errors.New("the same command does something else here than where the campaign was started")
	}
	return job, nil
}

func writeReply(out io.Writer, r Result, err error) error {
	head := reply{Size: len(r.Data), Find: r.Find}
	if err != nil {
		head, r = reply{Error: clip(err.Error(), 1000)}, Result{}
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, err = out.Write(append(append(text, '\n'), r.Data...))
	return err
}

// Package counterexample draws what a judge has found: the part of a history around a
// violation, or around what could not be decided, as a page of HTML that needs nothing
// beside it. It is porcupine's visualisation of that part under the specification that
// the property is about, with each client's windows, pauses and death, the calls, keys or
// accesses that the property speaks of, the faults, nodes and links beside it. How the page
// looks is the business of internal/page.
//
//	for _, p := range Of(report) {
//		page, err := p.Page(func() (io.ReadCloser, error) { return os.Open(file) })
//		...
//	}
//
// A picture reads its history a second time, keeps no more of it than it shows, and does
// not read on when it has seen enough. It judges nothing: what it says of a property is
// the judge's finding, and beside it what porcupine makes of the part that is shown.
package counterexample

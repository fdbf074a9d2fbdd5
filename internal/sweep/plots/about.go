package plots

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// About says how what a picture shows was made. It stands in the metadata of its file.
type About struct {
	Title   string // that of the chart
	Formula string // in words; empty: that of the chart
	Made    string // what was measured, in a sentence
	Command string // that makes the data
	Seed    uint64 // the first of the command; 0: none
	Runs    string // how many a point has, in words; empty: that of the chart
	Program string // that made the data, with its version; empty: unknown
	Drawer  string // the same of the program that draws
}

// field is an entry of the metadata.
type field struct{ name, value string }

// fields returns the known entries.
func (a About) fields() (list []field) {
	all := []field{{"Formula", a.Formula}, {"Made", a.Made}, {"Command", a.Command}, {"Seed", ""}, {"Runs", a.Runs}, {"Program", a.program()}}
	if a.Seed > 0 {
		all[3].value = strconv.FormatUint(a.Seed, 10)
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}

// program names the program that made the data.
func (a About) program() string {
	if a.Program == "" {
		return ""
	}
	return software + " " + a.Program
}

// software is what draws, with its version if that is known.
func (a About) software() string { return strings.TrimSpace(software + " " + a.Drawer) }

const software = "Lockstorm"

// text returns the entries in lines.
func (a About) text() string {
	var lines []string
	for _, f := range a.fields() {
		lines = append(lines, f.name+": "+f.value)
	}
	return strings.Join(lines, "\n")
}

// vocabulary is the namespace of the entries that Dublin Core lacks.
const vocabulary = "https://github.com/lockstorm/lockstorm/figures#"

// rdf returns the entries in RDF, with those of Dublin Core that programs show.
func (a About) rdf() string {
	var b strings.Builder
	b.WriteString(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lockstorm="` + vocabulary + `">` + "\n")
	b.WriteString("<rdf:Description rdf:about=\"\">\n")
	fmt.Fprintf(&b, "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">%s</rdf:li></rdf:Alt></dc:title>\n", escaped(a.Title))
	fmt.Fprintf(&b, "<dc:description><rdf:Alt><rdf:li xml:lang=\"x-default\">%s</rdf:li></rdf:Alt></dc:description>\n", escaped(a.text()))
	fmt.Fprintf(&b, "<dc:creator><rdf:Seq><rdf:li>%s</rdf:li></rdf:Seq></dc:creator>\n", escaped(a.software()))
	for _, f := range a.fields() {
		name := strings.ToLower(f.name)
		fmt.Fprintf(&b, "<lockstorm:%s>%s</lockstorm:%s>\n", name, escaped(f.value), name)
	}
	b.WriteString("</rdf:Description>\n</rdf:RDF>\n")
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	return strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

// intoSVG adds the metadata to a picture.
func (a About) intoSVG(svg []byte) []byte {
	text := fmt.Sprintf("<title>%s</title>\n<desc>%s</desc>\n<metadata>\n%s</metadata>\n", escaped(a.Title), escaped(a.text()), a.rdf())
	svg = bytes.Replace(svg, []byte("<svg "), []byte(`<svg role="img" `), 1)
	return afterHead(svg, text)
}

// xmp returns the packet for a PDF.
func (a About) xmp() []byte {
	return []byte("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n" + a.rdf() + "</x:xmpmeta>\n<?xpacket end=\"r\"?>")
}

// headSize is the length of the signature of a PNG and its first chunk.
const headSize = 8 + 12 + 13

// intoPNG adds the metadata to a picture, as iTXt chunks.
func (a About) intoPNG(bits []byte) []byte {
	var chunks []byte
	for _, f := range slices.Concat([]field{{"Title", a.Title}, {"Software", a.software()}}, a.fields()) {
		// A keyword, no compression, no language, and no translated keyword.
		data := "iTXt" + f.name + "\x00\x00\x00\x00\x00" + f.value
		chunks = binary.BigEndian.AppendUint32(chunks, uint32(len(data)-4))
		chunks = append(chunks, data...)
		chunks = binary.BigEndian.AppendUint32(chunks, crc32.ChecksumIEEE([]byte(data)))
	}
	return slices.Concat(bits[:headSize], chunks, bits[headSize:])
}

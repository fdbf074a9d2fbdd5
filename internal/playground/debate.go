package playground

import (
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Topic is the rows of the debate about one subject.
type Topic struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
}

// Row is a row of the debate.
type Row struct {
	Name      string     `json:"name"`
	Summary   string     `json:"summary"`
	Voices    []Voice    `json:"voices"`
	Sources   []Source   `json:"sources"` // none: the row is ours
	Remark    string     `json:"remark"`
	VariantOf string     `json:"variantOf"` // the row that this one shows in another way; "": none
	Expected  []Expected `json:"expected"`  // in the order of the properties
	Scenario  string     `json:"scenario"`  // YAML
}

// Voice is what one of the voices of the debate says of a row.
type Voice struct {
	Name string `json:"name"`
	Says string `json:"says"` // "": nothing
}

// Source is where a claim stands.
type Source struct {
	Text string `json:"text"` // author, title and section
	URL  string `json:"url"`  // "": none is known
}

// Expected is the predicted verdict of a property.
type Expected struct {
	Property Property        `json:"property"`
	Verdict  checker.Verdict `json:"verdict"`
}

// Property is a property of a lock.
type Property struct {
	Code  string `json:"code"`  // "V1"
	Title string `json:"title"` // "lease exclusion"
}

func propertyOf(p checker.Property) Property { return Property{Code: p.Code(), Title: p.Title()} }

// Properties returns all properties.
func Properties() ([]Property, error) {
	var list []Property
	for _, p := range checker.Properties() {
		list = append(list, propertyOf(p))
	}
	return list, nil
}

// Debate returns the rows of the debate by topic. Topics without rows are left out.
func Debate() ([]Topic, error) {
	topics := []Topic{}
	for _, t := range scenarios.Topics() {
		topic := Topic{Name: t.Name}
		for _, r := range t.Rows {
			row, err := rowOf(r)
			if err != nil {
				return nil, err
			}
			topic.Rows = append(topic.Rows, row)
		}
		if len(topic.Rows) > 0 {
			topics = append(topics, topic)
		}
	}
	return topics, nil
}

func rowOf(r scenarios.File) (Row, error) {
	text, err := printed(r.Scenario)
	row := Row{
		Name: r.Name, Summary: r.Summary, Voices: []Voice{}, Remark: r.Remark,
		VariantOf: r.VariantOf, Scenario: text, Sources: []Source{}, Expected: expectedOf(r.Scenario),
	}
	for _, v := range scenarios.Voices(r.Claims) {
		row.Voices = append(row.Voices, Voice{v.Name, v.Says()})
	}
	for _, c := range r.Claims {
		row.Sources = append(row.Sources, Source{c.Article(), c.Link()})
	}
	return row, err
}

func expectedOf(s scenarios.Scenario) []Expected {
	list := []Expected{}
	for _, p := range checker.Properties() {
		if v, wanted := s.Expect.Want(p); wanted {
			list = append(list, Expected{propertyOf(p), v})
		}
	}
	return list
}

// printed is a scenario as YAML.
func printed(s scenarios.Scenario) (string, error) {
	var text strings.Builder
	err := s.Print(&text)
	return text.String(), err
}

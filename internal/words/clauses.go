package words

import "strings"

// Clauses parts a story into what happens one after another: behind each "; " and each ". ",
// but for those in parentheses.
func Clauses(story string) (all []string) {
	depth, begin := 0, 0
	for i, r := range story {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ' ':
			if before := strings.LastIndexAny(story[begin:i], ";."); depth <= 0 && i > begin && before == i-begin-1 {
				all = append(all, story[begin:i])
				begin = i + 1
			}
		}
	}
	return append(all, story[begin:])
}

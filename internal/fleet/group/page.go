package group

import (
	"embed"
	"encoding/json"
	"io"
	"strings"
)

//go:embed html
var pageFiles embed.FS

// writePage writes a page with data: the template NAME.html with the styles and scripts that all pages have, and its
// own. The page is one file, and opening it makes no request.
func writePage(w io.Writer, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	page, err := pageFiles.ReadFile("html/" + name + ".html")
	if err != nil {
		return err
	}
	filled := string(page)
	for _, part := range []string{"page.css", name + ".css", "page.js", name + ".js"} {
		content, err := pageFiles.ReadFile("html/" + part)
		if err != nil {
			return err
		}
		filled = strings.Replace(filled, "{{"+part+"}}", string(content), 1)
	}
	// Last: names of methods may look like a place of the template. encoding/json has escaped all tags.
	_, err = io.WriteString(w, strings.Replace(filled, "{{data}}", string(text), 1))
	return err
}

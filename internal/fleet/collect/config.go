package collect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/userfile"
)

// Configs has the signed configuration of each package.
type Configs struct{ byPackage map[string]signed }

// signed is a configuration as apps get it: the signature, a line end, and the text.
type signed struct {
	body    []byte
	tag     string
	file    string
	expires int64 // in milliseconds since 1970
}

// maxConfig limits the size of a configuration, in bytes. The app takes 256 KiB with the signature.
const maxConfig = 255 << 10

// LoadConfigs reads a file of properties, or each file *.properties of a directory, and signs them. Each must have the
// properties package, serial and expires.
func LoadConfigs(path string, key *ecdsa.PrivateKey) (*Configs, error) {
	files := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if info.IsDir() {
		if files, err = fs.Glob(os.DirFS(path), "*.properties"); err != nil {
			return nil, err
		}
		for i := range files {
			files[i] = filepath.Join(path, files[i])
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("configuration: %s has no file *.properties", path)
		}
	}
	c := &Configs{byPackage: map[string]signed{}}
	for _, file := range files {
		text, err := userfile.ReadSettings(file)
		if err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		app, expires, err := checkConfig(text)
		if err != nil {
			return nil, fmt.Errorf("configuration %s: %w", file, err)
		}
		if other, ok := c.byPackage[app]; ok {
			return nil, fmt.Errorf("configuration: %s and %s are both of package %s; keep one", other.file, file, app)
		}
		signature, err := sign(text, key)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		c.byPackage[app] = signed{append(append(signature, '\n'), text...), `"` + hex.EncodeToString(sum[:16]) + `"`, file,
			expires}
	}
	return c, nil
}

// find returns the signed text for a package, and its entity tag; nil if there is none, or if it has expired: apps
// would refuse it, each time they ask. c may be nil.
func (c *Configs) find(app string, now time.Time) (text []byte, tag string, expired bool) {
	if c == nil {
		return nil, "", false
	}
	s, found := c.byPackage[app]
	if s.expires <= now.UnixMilli() {
		return nil, "", found
	}
	return s.body, s.tag, false
}

// Expired returns the files whose settings have expired, sorted.
func (c *Configs) Expired(now time.Time) (files []string) {
	for _, s := range c.byPackage {
		if s.expires <= now.UnixMilli() {
			files = append(files, s.file)
		}
	}
	slices.Sort(files)
	return files
}

// sign returns the base64 of a signature: ECDSA over the SHA-256 of the text, in ASN.1, as SHA256withECDSA of Java.
func sign(text []byte, key *ecdsa.PrivateKey) ([]byte, error) {
	sum := sha256.Sum256(text)
	der, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		return nil, fmt.Errorf("sign the configuration: %w", err)
	}
	return base64.StdEncoding.AppendEncode(nil, der), nil
}

// checkConfig checks a text of properties, and returns its package, and when it expires.
func checkConfig(text []byte) (app string, expires int64, err error) {
	if len(text) > maxConfig {
		return "", 0, fmt.Errorf("it has %d bytes; at most %d are served", len(text), maxConfig)
	}
	if !utf8.Valid(text) {
		return "", 0, errors.New("it is not UTF-8")
	}
	p, err := parseProperties(string(text))
	if err != nil {
		return "", 0, err
	}
	if app = p["package"]; !devicereport.IsPackage(app) {
		return "", 0, fmt.Errorf("the property package is %q, and must be the name of the app's package", app)
	}
	for _, name := range []string{"serial", "expires"} { // the value of the last one is returned
		if expires, err = strconv.ParseInt(p[name], 10, 64); err != nil || expires < 0 {
			return "", 0, fmt.Errorf("the property %s is %q, and must be a whole number: serial grows with each change, "+
				"expires is in milliseconds since 1970", name, p[name])
		}
	}
	return app, expires, nil
}

// parseProperties reads a text in the format of java.util.Properties, without escape sequences: no setting of an app
// needs one. A key that is there twice is an error: programs would differ in which value counts.
func parseProperties(text string) (map[string]string, error) {
	p := map[string]string{}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for i, line := range lines {
		line = strings.TrimLeft(line, " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		if strings.Contains(line, `\`) {
			return nil, fmt.Errorf("line %d: a backslash, which no setting needs; write the property on one line", i+1)
		}
		key, value := splitProperty(line)
		if _, twice := p[key]; twice {
			return nil, fmt.Errorf("line %d: the property %s is there twice; remove one", i+1, key)
		}
		p[key] = value
	}
	return p, nil
}

// splitProperty divides a line at the first "=", ":" or blank.
func splitProperty(line string) (key, value string) {
	at := strings.IndexAny(line, "=: \t\f")
	if at < 0 {
		return line, ""
	}
	key, value = line[:at], strings.TrimLeft(line[at:], " \t\f")
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], " \t\f")
	}
	return key, value
}

// LoadKey reads a private key of the curve P-256 from a PEM file: PKCS #8, or SEC 1 as openssl writes it.
func LoadKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := userfile.ReadSettings(path)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var key any
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default:
			continue // openssl writes parameters of the curve too
		}
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", path, err)
		}
		if ec, ok := key.(*ecdsa.PrivateKey); ok && ec.Curve == elliptic.P256() {
			return ec, nil
		}
		return nil, fmt.Errorf("key %s: not a key of the curve P-256; make one with openssl, see docs/collect.md", path)
	}
	return nil, fmt.Errorf("key %s: no private key in PEM; make one with openssl, see docs/collect.md", path)
}

// CheckKeyMode returns an error if every user of the machine has access to the file of a private key. Windows has no
// such modes.
func CheckKeyMode(path string) error {
	const others = 0o007
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode()&others != 0 {
		err = fmt.Errorf("key %s: every user of this machine has access to it; run chmod o= %s", path, path)
	}
	return err
}

// PublicKey returns the public key as apps pin it: the base64 of its X.509 form.
func PublicKey(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(der), nil
}

// ParseTokens returns the tokens of a file: one on a line, without empty lines and those that begin with "#". A token
// has 16 characters at least, and no blank.
func ParseTokens(text string) ([]string, error) {
	var tokens []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case len(line) < 16 || strings.ContainsAny(line, " \t"):
			return nil, fmt.Errorf("line %d: a token must have 16 characters at least and no blank; make one with "+
				"openssl rand -hex 32", i+1)
		}
		tokens = append(tokens, line)
	}
	if len(tokens) == 0 {
		return nil, errors.New("no token; write one on a line")
	}
	return tokens, nil
}

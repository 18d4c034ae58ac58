package provenance

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// PayloadType is the only type of payload that is read.
const PayloadType = "application/vnd.in-toto+json"

// Envelope is a signed statement, whose signature has not been verified.
type Envelope struct {
	payload   []byte // the statement's text
	keyID     string
	signature []byte
}

// PAE returns what a signature of a DSSE envelope covers: the pre-authentication encoding of type and payload.
func PAE(payloadType string, payload []byte) []byte {
	b := append([]byte("DSSEv1 "), strconv.Itoa(len(payloadType))...)
	b = append(append(b, ' '), payloadType...)
	b = append(strconv.AppendInt(append(b, ' '), int64(len(payload)), 10), ' ')
	return append(b, payload...)
}

// Sign returns the envelope of a statement's text.
func Sign(statement []byte, key *ecdsa.PrivateKey) (*Envelope, error) {
	id, err := KeyID(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(PAE(PayloadType, statement))
	// Without a source of random bytes, the signature depends on key and text alone (RFC 6979).
	signature, err := key.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	return &Envelope{statement, id, signature}, nil
}

// envelopeJSON and signatureJSON are the JSON form.
type envelopeJSON struct {
	PayloadType string          `json:"payloadType"`
	Payload     string          `json:"payload"`
	Signatures  []signatureJSON `json:"signatures"`
}

type signatureJSON struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// Encode returns the envelope as a JSON object, and a line end.
func (e *Envelope) Encode() []byte {
	data, err := json.Marshal(envelopeJSON{PayloadType, base64.StdEncoding.EncodeToString(e.payload),
		[]signatureJSON{{e.keyID, base64.StdEncoding.EncodeToString(e.signature)}}})
	if err != nil {
		panic(err) // there is nothing in it that has no JSON form
	}
	return append(data, '\n')
}

// KeyID returns the identifier of the key that is said to have signed.
func (e *Envelope) KeyID() string { return e.keyID }

// ParseEnvelope reads an envelope. It has one signature, as a second one would be valid without being checked.
func ParseEnvelope(data []byte) (*Envelope, error) {
	values, err := object(data, "payloadType", "payload", "signatures")
	if err != nil {
		return nil, fmt.Errorf("not a DSSE envelope: %w", err)
	}
	payloadType, err := text(values, "payloadType")
	if err != nil {
		return nil, err
	}
	if payloadType != PayloadType {
		return nil, fmt.Errorf("the envelope has payloadType %q; only %q is checked", payloadType, PayloadType)
	}
	e := &Envelope{}
	if e.payload, err = binary(values, "payload"); err != nil {
		return nil, err
	}
	var signatures []json.RawMessage
	if err := json.Unmarshal(values["signatures"], &signatures); err != nil {
		return nil, fmt.Errorf("not a DSSE envelope: signatures: %w", err)
	}
	if len(signatures) != 1 {
		return nil, fmt.Errorf("the envelope has %d signatures, and must have one", len(signatures))
	}
	if values, err = object(signatures[0], "keyid", "sig"); err != nil {
		return nil, fmt.Errorf("not a DSSE envelope: signature: %w", err)
	}
	if e.keyID, err = text(values, "keyid"); err != nil {
		return nil, err
	}
	if id, err := hex.DecodeString(e.keyID); err != nil || hex.EncodeToString(id) != e.keyID || len(id) != sha256.Size {
		return nil, fmt.Errorf("the envelope has keyid %q, which is not the SHA-256 of a public key", e.keyID)
	}
	if e.signature, err = binary(values, "sig"); err != nil {
		return nil, err
	}
	return e, nil
}

// object reads a JSON object that has these keys, each once, in this letter case, and no others. Package json alone
// takes the last of several equal keys, and takes keys in any letter case.
func object(data []byte, keys ...string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil {
		return nil, err
	} else if open != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	values := make(map[string]json.RawMessage, len(keys))
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		values[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	for _, key := range keys {
		if values[key] == nil {
			return nil, fmt.Errorf("the key %q is missing", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("the key %q is unknown", key)
		}
	}
	return values, nil
}

// text returns the string that a key of an envelope has.
func text(values map[string]json.RawMessage, key string) (string, error) {
	var s *string
	if err := json.Unmarshal(values[key], &s); err != nil || s == nil {
		return "", fmt.Errorf("not a DSSE envelope: %s is not a string", key)
	}
	return *s, nil
}

// binary returns the bytes whose base64 a key of an envelope has. There is one form of base64 for each text: the
// standard alphabet, with padding, without line ends.
func binary(values map[string]json.RawMessage, key string) ([]byte, error) {
	encoded, err := text(values, key)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || base64.StdEncoding.EncodedLen(len(data)) != len(encoded) {
		return nil, fmt.Errorf("not a DSSE envelope: %s is not base64: %w", key, cmp.Or(err, errLineEnds))
	}
	return data, nil
}

// errLineEnds is the reason why a text is not base64 that package base64 accepts.
var errLineEnds = errors.New("it has line ends")

// KeyError is the error of an envelope that another key has signed.
type KeyError struct {
	Stated string // the keyid of the envelope
	Given  string // that of the public key
}

// Error implements error.
func (e *KeyError) Error() string {
	return fmt.Sprintf("the envelope is signed with the key %s, and the public key given is %s", e.Stated, e.Given)
}

// ErrSignature is the error of an envelope whose signature is not one of its payload.
var ErrSignature = errors.New("the signature is not one of this payload: the payload or the signature was changed")

// Verify returns the text that the key has signed. The error is a [KeyError] or [ErrSignature].
func (e *Envelope) Verify(public *ecdsa.PublicKey) ([]byte, error) {
	id, err := KeyID(public)
	if err != nil {
		return nil, err
	}
	if id != e.keyID {
		return nil, &KeyError{e.keyID, id}
	}
	sum := sha256.Sum256(PAE(PayloadType, e.payload))
	if !ecdsa.VerifyASN1(public, sum[:], e.signature) {
		return nil, ErrSignature
	}
	return e.payload, nil
}

// KeyID returns the identifier of a key: the SHA-256 of its X.509 form, in hexadecimal.
func KeyID(public *ecdsa.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// ParsePublicKey reads a public key of the curve P-256: in PEM, or the line of base64 that tracegen collect keygen
// prints.
func ParsePublicKey(data []byte) (*ecdsa.PublicKey, error) {
	var der []byte
	if block, _ := pem.Decode(data); block != nil {
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("it holds a %s, and not a PUBLIC KEY", block.Type)
		}
		der = block.Bytes
	} else {
		var err error
		if der, err = base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data))); err != nil {
			return nil, errors.New("it is neither PEM nor the line that tracegen collect keygen prints")
		}
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, err
	}
	if ec, ok := key.(*ecdsa.PublicKey); ok && ec.Curve == elliptic.P256() {
		return ec, nil
	}
	return nil, errors.New("it is not a key of the curve P-256")
}

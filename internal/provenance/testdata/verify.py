# Verifies an envelope by python3-cryptography: verify.py ENVELOPE PUBLIC-KEY, the key as the base64 of its X.509 form.
# Exit code 3: the library is missing.
import base64, hashlib, json, sys

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
except ImportError as e:
    print(e)
    sys.exit(3)

with open(sys.argv[1]) as f:
    envelope = json.load(f)
with open(sys.argv[2]) as f:
    der = base64.b64decode(f.read())
kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"], validate=True)
signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
[signature] = envelope["signatures"]
if signature["keyid"] != hashlib.sha256(der).hexdigest():
    sys.exit("other key")
try:
    serialization.load_der_public_key(der).verify(base64.b64decode(signature["sig"]), signed, ec.ECDSA(hashes.SHA256()))
except InvalidSignature:
    sys.exit("not verified")
statement = json.loads(payload)
assert statement["_type"] == "https://in-toto.io/Statement/v1"
assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
print("verified")

"""AWS Signature Version 4 for one GET in the query string.

obstore signs URLs too, but cannot put the answer's headers under the signature, and a download needs its file name.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

ALGORITHM: Final = "AWS4-HMAC-SHA256"
UNRESERVED: Final = "-._~"
MAX_SECONDS: Final = 7 * 24 * 3600
"""S3 refuses to sign for longer."""


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    endpoint: str
    region: str
    access_key: str
    secret_key: str

    def get(self, path: str, *, now: datetime, expires: timedelta, answer: Mapping[str, str]) -> str:
        """`path` is `/bucket/key`; `answer` are headers to come with the answer, by S3's `response-…` names."""
        stamp = now.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/{self.region}/s3/aws4_request"
        parts = urlsplit(self.endpoint)
        query = {
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self.access_key}/{scope}",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(max(1, min(int(expires.total_seconds()), MAX_SECONDS))),
            "X-Amz-SignedHeaders": "host",
            **answer,
        }
        pairs = "&".join(f"{escaped(name)}={escaped(query[name])}" for name in sorted(query))
        target = quote(parts.path.rstrip("/") + path, safe="/" + UNRESERVED)
        request = f"GET\n{target}\n{pairs}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
        text = f"{ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = f"AWS4{self.secret_key}".encode()
        for word in (*scope.split("/"), text):
            key = hmac.digest(key, word.encode(), "sha256")
        return f"{parts.scheme}://{parts.netloc}{target}?{pairs}&X-Amz-Signature={key.hex()}"


def escaped(text: str) -> str:
    return quote(text, safe=UNRESERVED)


def attachment(file_name: str) -> str:
    """A Content-Disposition that every browser understands and no name can break out of."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_" for letter in file_name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{escaped(file_name)}"

"""Ignition documents that the specification accepts and refuses; ours and the real validator judge the same table."""

from typing import Final

CLEAN_FILE: Final = {"path": "/etc/motd", "mode": 420, "contents": {"source": "data:,hello"}}


def a_document(*, version: str = "3.2.0", **sections: object) -> dict[str, object]:
    return {"ignition": {"version": version}, **sections}


def a_file(**changes: object) -> dict[str, object]:
    return a_document(storage={"files": [{**CLEAN_FILE, **changes}]})


def a_unit(contents: str, name: str = "a.service") -> dict[str, object]:
    return a_document(systemd={"units": [{"name": name, "contents": contents}]})


def storage(**parts: object) -> dict[str, object]:
    return a_document(storage=parts)


def a_disk(*partitions: dict[str, object]) -> dict[str, object]:
    return storage(disks=[{"device": "/dev/vda", "partitions": list(partitions)}])


def ignition(**parts: object) -> dict[str, object]:
    return {"ignition": {"version": "3.2.0", **parts}}


ACCEPTED: Final[dict[str, dict[str, object]]] = {
    "nothing-but-a-version": a_document(),
    "old-version": a_document(version="3.1.0"),
    "file": a_file(),
    "largest-mode": a_file(mode=0o7777),
    "file-fetched": a_file(contents={"source": "https://host/x", "httpHeaders": [{"name": "A", "value": "b"}]}),
    "hash": a_file(contents={"source": "data:,a", "verification": {"hash": "sha512-" + "0" * 128}}),
    "short-hash": a_file(contents={"source": "data:,a", "verification": {"hash": "sha256-" + "0" * 64}}),
    "two-appends-of-one-source": storage(files=[{"path": "/a", "append": [{"source": "data:,a"}] * 2}]),
    "owner-by-id": a_file(user={"id": 0}, group={"name": "root"}),
    "unknown-key": {**a_document(), "other": 1},
    "unit": a_unit("[Unit]\n# why\nA=b\\\n  more\n[Install]\nWantedBy=multi-user.target\n"),
    "unit-without-section": a_unit("just words"),
    "dropin": a_document(
        systemd={"units": [{"name": "a.service", "dropins": [{"name": "x.conf", "contents": "[A]\n"}]}]}
    ),
    "user-without-name": a_document(passwd={"users": [{"gecos": "x"}]}),
    "proxy": ignition(proxy={"httpProxy": "http://p:1", "httpsProxy": "http://p:1", "noProxy": ["a"]}),
    "pointer": ignition(config={"merge": [{"source": "https://a:22623/config/worker"}]}),
    "authority": ignition(security={"tls": {"certificateAuthorities": [{"source": "data:,a"}]}}),
    "partitions-by-label": a_disk({"label": "a"}, {"label": "b"}),
    "partitions-side-by-side": a_disk(
        {"number": 1, "startMiB": 1, "sizeMiB": 10}, {"number": 2, "startMiB": 11, "sizeMiB": 10}
    ),
    "partition-gone": a_disk({"number": 1, "shouldExist": False, "wipePartitionEntry": True}),
    "raid": storage(raid=[{"name": "md", "level": "raid1", "devices": ["/dev/a", "/dev/b"], "spares": 1}]),
    "filesystem": storage(filesystems=[{"device": "/dev/a", "format": "xfs", "label": "x" * 12, "path": "/var"}]),
    "luks": storage(
        luks=[{"name": "root", "device": "/dev/a", "clevis": {"tang": [{"url": "http://t", "thumbprint": "x"}]}}]
    ),
    "links": storage(links=[{"path": "/a", "target": "/b"}], files=[{"path": "/ab"}]),
}

REFUSED: Final[dict[str, tuple[dict[str, object], str]]] = {
    "wrong-type": (a_file(mode="0644"), "mode"),
    "no-path": (storage(files=[{"mode": 420}]), "path is missing"),
    "relative-path": (a_file(path="etc/motd"), "not absolute"),
    "dirty-path": (a_file(path="/etc//motd"), "simplest form"),
    "trailing-slash": (a_file(path="/etc/"), "simplest form"),
    "dots-in-path": (a_file(path="/etc/../motd"), "simplest form"),
    "double-slash": (a_file(path="//etc"), "simplest form"),
    "mode-too-large": (a_file(mode=0o10000), "outside 0"),
    "negative-mode": (a_file(mode=-1), "outside 0"),
    "same-path-twice": (storage(files=[CLEAN_FILE, CLEAN_FILE]), "repeats '/etc/motd'"),
    "file-and-folder": (storage(files=[{"path": "/a"}], directories=[{"path": "/a"}]), "repeats '/a'"),
    "file-behind-link": (storage(files=[{"path": "/a/b"}], links=[{"path": "/a", "target": "/c"}]), "through a link"),
    "link-behind-link": (
        storage(links=[{"path": "/a/b", "target": "/"}, {"path": "/a", "target": "/c"}]),
        "through a link",
    ),
    "hard-link-to-folder": (
        storage(links=[{"path": "/l", "target": "/d", "hard": True}], directories=[{"path": "/d"}]),
        "hard link",
    ),
    "overwrite-with-nothing": (storage(files=[{"path": "/a", "overwrite": True}]), "overwrite"),
    "broken-escape": (a_file(contents={"source": "data:,%zz"}), "percent"),
    "broken-base64": (a_file(contents={"source": "data:;base64,YQ"}), "base64"),
    "space-in-data": (a_file(contents={"source": "data:,a b"}), "percent-encoded"),
    "newline-in-url": (a_file(contents={"source": "data:,a\nb"}), "not a URL"),
    "unknown-scheme": (a_file(contents={"source": "ftp://a"}), "scheme"),
    "no-scheme": (a_file(contents={"source": "/etc/x"}), "scheme"),
    "empty-version-id": (a_file(contents={"source": "s3://a/b?versionId="}), "versionId"),
    "compression": (a_file(contents={"source": "data:,a", "compression": "xz"}), "gzip"),
    "hash-without-source": (
        storage(files=[{"path": "/a", "contents": {"verification": {"hash": "sha512-" + "0" * 128}}}]),
        "hash",
    ),
    "hash-function": (a_file(contents={"source": "data:,a", "verification": {"hash": "md5-0"}}), "sha512"),
    "hash-size": (a_file(contents={"source": "data:,a", "verification": {"hash": "sha512-0"}}), "128 digits"),
    "headers-on-data": (
        a_file(contents={"source": "data:,a", "httpHeaders": [{"name": "A", "value": "b"}]}),
        "httpHeaders",
    ),
    "header-without-name": (a_file(contents={"source": "http://a", "httpHeaders": [{"value": "b"}]}), "name is empty"),
    "header-empty-value": (
        a_file(contents={"source": "http://a", "httpHeaders": [{"name": "a", "value": ""}]}),
        "value is empty",
    ),
    "owner-twice": (a_file(user={"id": 0, "name": "root"}), "both an id and a name"),
    "unit-suffix": (a_unit("", name="a.conf"), "systemd unit"),
    "unit-open-section": (a_unit("[Unit"), "without closing"),
    "unit-garbage-after-section": (a_unit("[Unit] x\nA=b"), "after the section"),
    "unit-no-assignment": (a_unit("[Unit]\nwords"), "key=value"),
    "unit-twice": (a_document(systemd={"units": [{"name": "a.service"}] * 2}), "repeats 'a.service'"),
    "dropin-suffix": (a_document(systemd={"units": [{"name": "a.service", "dropins": [{"name": "x"}]}]}), ".conf"),
    "file-is-also-a-unit": (
        {**a_unit("[Unit]\n"), "storage": {"files": [{"path": "/etc/systemd/system/a.service"}]}},
        "also written by",
    ),
    "ssh-key-twice": (a_document(passwd={"users": [{"name": "core", "sshAuthorizedKeys": ["a", "a"]}]}), "repeats 'a'"),
    "user-twice": (a_document(passwd={"users": [{"name": "core"}] * 2}), "repeats 'core'"),
    "proxy-scheme": (ignition(proxy={"httpProxy": "socks5://p"}), "httpProxy"),
    "merge-without-source": (ignition(config={"merge": [{}]}), "no source"),
    "authority-without-source": (ignition(security={"tls": {"certificateAuthorities": [{}]}}), "no source"),
    "disk-without-device": (storage(disks=[{}]), "device is missing"),
    "partition-numbers": (a_disk({"number": 1}, {"number": 1}), "number 1 twice"),
    "partition-labels": (a_disk({"number": 1, "label": "a"}, {"number": 2, "label": "a"}), "label 'a' twice"),
    "partitions-overlap": (
        a_disk({"number": 1, "startMiB": 1, "sizeMiB": 11}, {"number": 2, "startMiB": 11, "sizeMiB": 10}),
        "overlap",
    ),
    "partition-unnamed": (a_disk({"sizeMiB": 1}), "number from 1 or a label"),
    "partition-gone-but-described": (a_disk({"number": 1, "shouldExist": False, "sizeMiB": 1}), "shall not exist"),
    "partition-label-long": (a_disk({"label": "x" * 37}), "longer than 36"),
    "partition-label-colon": (a_disk({"label": "a:b"}), "colon"),
    "partition-guid": (a_disk({"number": 1, "guid": "x"}), "GUID"),
    "raid-level": (storage(raid=[{"name": "md", "level": "raid7", "devices": ["/dev/a"]}]), "RAID level"),
    "raid-spares": (storage(raid=[{"name": "md", "level": "raid0", "devices": ["/dev/a"], "spares": 1}]), "spares"),
    "raid-empty": (storage(raid=[{"name": "md", "level": "raid1"}]), "devices is empty"),
    "raid-device": (storage(raid=[{"name": "md", "level": "raid1", "devices": ["a"]}]), "not absolute"),
    "filesystem-format": (storage(filesystems=[{"device": "/dev/a", "format": "ext9"}]), "format must be"),
    "filesystem-formatless": (storage(filesystems=[{"device": "/dev/a", "path": "/var"}]), "format is missing"),
    "filesystem-path": (storage(filesystems=[{"device": "/dev/a", "format": "xfs", "path": "var"}]), "not absolute"),
    "filesystem-label": (
        storage(filesystems=[{"device": "/dev/a", "format": "xfs", "label": "x" * 13}]),
        "longer than xfs",
    ),
    "luks-name": (storage(luks=[{"name": "a/b", "device": "/dev/a"}]), "slash"),
    "luks-device": (storage(luks=[{"name": "a"}]), "device is missing"),
    "luks-label": (storage(luks=[{"name": "a", "device": "/dev/a", "label": "x" * 48}]), "longer than 47"),
    "luks-key-file": (storage(luks=[{"name": "a", "device": "/dev/a", "keyFile": {"source": "ftp://a"}}]), "scheme"),
    "tang-thumbprint": (
        storage(luks=[{"name": "a", "device": "/dev/a", "clevis": {"tang": [{"url": "http://t"}]}}]),
        "thumbprint",
    ),
    "tang-url": (
        storage(luks=[{"name": "a", "device": "/dev/a", "clevis": {"tang": [{"url": "t", "thumbprint": "x"}]}}]),
        "url",
    ),
    "clevis-mixed": (
        storage(
            luks=[{"name": "a", "device": "/dev/a", "clevis": {"tpm2": True, "custom": {"pin": "sss", "config": "{}"}}}]
        ),
        "custom pin",
    ),
    "clevis-pin": (
        storage(luks=[{"name": "a", "device": "/dev/a", "clevis": {"custom": {"pin": "x", "config": "{}"}}}]),
        "pin must",
    ),
    "clevis-config": (
        storage(luks=[{"name": "a", "device": "/dev/a", "clevis": {"custom": {"pin": "sss"}}}]),
        "config is missing",
    ),
}

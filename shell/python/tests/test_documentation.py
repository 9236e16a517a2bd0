"""The examples of docs/python.md and docs/plugins.md run."""

import re
import shutil

import fathom
import pytest

from common import CAPTURE, ROOT


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    shutil.copy(CAPTURE, "slow.pcap.gz")
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    # What the comments of the examples say.
    run, managed = names["run"], names["managed"]
    assert run.verdict == "Your upload makes everything wait: +993 ms when busy."
    assert (run.findings[0]["kind"], managed.health) == ("bufferbloat", "healthy")
    assert f"{run.metrics['lag_up_s']:.4f}" == "0.9928"
    assert 'rate "5" has no unit (did you mean' in capsys.readouterr().out
    assert len(names["sweep"]) == names["rows"].height == 18
    assert dict(names["longest"].fetchall())["idle"] < 0.05


def test_the_plugins_run():
    text = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = {}
    exec(compile(block, "docs/plugins.md", "exec"), names)
    assert names["run"].packets > 1000
    fathom.check_congestion_control(names["Aimd"])
    with pytest.raises(fathom.InputError, match="was overtaken"):
        fathom.check_queue(names["Newest"])

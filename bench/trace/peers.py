"""Results of other tools on a capture: retransmissions and round-trip times. None of them reports a
bottleneck rate, buffer or side.
"""
import csv
import io
import subprocess

TSHARK_FIELDS = ("tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.analysis.ack_rtt")
BULK_PORT = "5001"


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def tcptrace(path):
    """Segments retransmitted or out of order (tcptrace's name for them after the loss), and the
    range of the bulk flows' round-trip times in ms.
    """
    rows = [line for line in run(["tcptrace", "-n", "-lrW", "--csv", path]).splitlines() if line and not line.startswith("#")]
    table = csv.DictReader(io.StringIO("\n".join(rows)), skipinitialspace=True)
    again = out_of_order = 0
    least, most = [], []
    for row in table:
        row = {name.strip(): (value or "").strip() for name, value in row.items() if name}
        for way in ("a2b", "b2a"):
            again += int(row[f"rexmt_data_pkts_{way}"])
            out_of_order += int(row[f"outoforder_pkts_{way}"])
            if row["port_b"] == BULK_PORT and float(row[f"RTT_max_{way}"]):
                least.append(float(row[f"RTT_min_{way}"]))
                most.append(float(row[f"RTT_max_{way}"]))
    return {"again": again, "out_of_order": out_of_order, "delay_ms": max(most) - min(least) if most else 0.0}


def tshark(path):
    """The same from tshark, whose out-of-order segments are often retransmissions."""
    fields = [word for name in TSHARK_FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", "-r", path, "-Y", " || ".join(TSHARK_FIELDS), "-T", "fields", "-E", "separator=,", *fields,
               "-e", "tcp.srcport", "-e", "tcp.dstport"]
    again = out_of_order = 0
    rtts = []
    for line in run(command).splitlines():
        is_again, is_out, rtt, *ports = line.split(",")
        again += bool(is_again)
        out_of_order += bool(is_out)
        if rtt and BULK_PORT in ports:
            rtts.append(float(rtt) * 1e3)
    return {"again": again, "out_of_order": out_of_order, "delay_ms": max(rtts) - min(rtts) if rtts else 0.0}


TOOLS = {"tcptrace": tcptrace, "tshark": tshark}

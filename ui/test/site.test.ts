import { expect, test } from "vitest";
import { pointsOf } from "../src/site/picture.ts";
import { fromAddress, scenario, toAddress, USUAL, withFqCodel } from "../src/site/line.ts";

test("settings survive the address", () => {
  const settings = { ...USUAL, down: 16, up: 0.7, rtt: 32, queue: "cake" as const, load: "both" as const, flows: 4, tcp: "bbr", compare: false };
  expect(fromAddress(toAddress(settings))).toEqual(settings);
  expect(fromAddress("")).toEqual(USUAL);
});

test("what an address has wrong is as usual or within the limits", () => {
  const settings = fromAddress("#down=-3&up=x&rtt=1e9&queue=__proto__&load=&tcp=toString&flows=2.4&seconds=21");
  expect(settings).toEqual({ ...USUAL, down: 0.5, rtt: 600, flows: 2 });
});

test("a scenario has rates in bit/s, and half of the round trip in each direction", () => {
  const text = scenario({ ...USUAL, up: 0.25, rtt: 33 });
  expect(text).toContain('up = { rate = "250000bit", delay = "16500us", queue = "fifo limit 300ms" }');
  expect(text).toContain("up_flows = 1\ndown_flows = 0");
  expect(scenario(withFqCodel(USUAL))).toContain('queue = "fq_codel"');
});

test("probes without an answer are no points", () => {
  const series = [{ metric: "udp_rtt_s", at_ns: [0, 5e8, 1e9], values: [0.1, 9, 0.2], censored: [1] }];
  const document = { verdict: { headline: "" }, summary: { phases: [] }, series };
  expect(pointsOf(document, "udp_rtt_s")).toEqual([
    { at: 0, value: 0.1 },
    { at: 1, value: 0.2 },
  ]);
  expect(pointsOf(document, "icmp_rtt_s")).toEqual([]);
});

import { Answers } from "./answers.ts";
import type { Probe } from "./messages.ts";
import type { Start } from "./probe.ts";

/** How long a data channel may take to open before the page tries a WebSocket. */
const OPEN_MS = 6_000;
const GATHER_MS = 1_000;

/** Why a test could not start: what the server said, or nothing if it cannot be reached. */
export class Refused extends Error {}

/** How the probes travel. */
export type Transport = "webrtc" | "websocket";

export interface Link {
  id: string;
  transport: Transport;
  /** Reports to the server whether the page is in the background. */
  setHidden(isHidden: boolean): void;
  close(): void;
}

export interface Listener {
  probe(probe: Probe): void;
  closed(): void;
}

/** A link whose probes steer the loads through a port. */
interface Steered extends Link {
  loads: MessagePort;
}

/** Starts a test: its probes, and the loads that they steer. */
export const connect = async (maxBytes: number, listener: Listener): Promise<Link> => {
  const open = typeof RTCPeerConnection === "function" ? await openChannel(maxBytes, listener) : undefined;
  const { loads, ...link } = open ?? (await openSocket(maxBytes, listener));
  const worker = new Worker("/page/load.js", { type: "module" });
  worker.postMessage({ url: `/page/load/${link.id}`, probes: loads }, [loads]);
  return {
    ...link,
    close: () => {
      worker.terminate();
      link.close();
    },
  };
};

/** Asks for a test; returns its ID and the answer to the offer. */
const begin = async (maxBytes: number, offer: string): Promise<{ id: string; answer: string }> => {
  const response = await fetch(`/page/test?bytes=${maxBytes}`, { method: "POST", body: offer });
  const text = await response.text();
  if (!response.ok) throw new Refused(text.trim());
  const end = text.indexOf("\n");
  return { id: text.slice(0, end), answer: text.slice(end + 1) };
};

const gathered = (connection: RTCPeerConnection): Promise<void> =>
  new Promise((done) => {
    // The server needs no addresses of this host: it answers who calls.
    setTimeout(done, GATHER_MS);
    connection.onicegatheringstatechange = () => connection.iceGatheringState === "complete" && done();
  });

const openChannel = async (maxBytes: number, listener: Listener): Promise<Steered | undefined> => {
  const { port1, port2: loads } = new MessageChannel();
  const connection = new RTCPeerConnection();
  const channel = connection.createDataChannel("probes", { ordered: false, maxRetransmits: 0 });
  const answering = inWorker({ channel, loads: port1 }, [channel], listener) ?? here(channel, port1, listener);
  const close = () => {
    answering.close();
    connection.close();
  };
  await connection.setLocalDescription();
  await gathered(connection);
  const { id, answer } = await begin(maxBytes, connection.localDescription?.sdp ?? "");
  if (!answer) {
    close();
    return undefined;
  }
  await connection.setRemoteDescription({ type: "answer", sdp: answer });
  if (await isOpen(connection)) return { id, transport: "webrtc", loads, setHidden: answering.setHidden, close };
  close();
  return undefined;
};

const isOpen = (connection: RTCPeerConnection): Promise<boolean> =>
  new Promise((done) => {
    setTimeout(() => done(false), OPEN_MS);
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === "connected") done(true);
      if (connection.connectionState === "failed") done(false);
    };
  });

/** Answers in a worker, if the browser passes channels to workers. */
const inWorker = (start: Start, passed: unknown[], listener: Listener) => {
  const worker = new Worker("/page/probe.js", { type: "module" });
  try {
    worker.postMessage(start, [...(passed as Transferable[]), start.loads]);
  } catch {
    worker.terminate();
    return undefined;
  }
  const isOpen = new Promise<boolean>((done) => {
    worker.onmessage = ({ data }) => {
      if (data === "open" || data === "failed") done(data === "open");
      else if (data === "closed") listener.closed();
      else listener.probe(data);
    };
  });
  return { isOpen, setHidden: (isHidden: boolean) => worker.postMessage(isHidden), close: () => worker.terminate() };
};

/** Answers in this thread. */
const here = (channel: RTCDataChannel, loads: MessagePort, listener: Listener) => {
  const answers = new Answers(channel, (probe) => {
    loads.postMessage(probe.stage);
    listener.probe(probe);
  });
  loads.onmessage = ({ data }) => answers.setCount(data);
  channel.onclose = () => listener.closed();
  return {
    setHidden: (isHidden: boolean) => answers.setHidden(isHidden),
    close: () => {
      channel.onclose = null;
      answers.close();
    },
  };
};

const openSocket = async (maxBytes: number, listener: Listener): Promise<Steered> => {
  const { port1, port2: loads } = new MessageChannel();
  const { id } = await begin(maxBytes, "");
  const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/page/socket/${id}`;
  const answering = inWorker({ url, loads: port1 }, [], listener);
  if (!answering || !(await answering.isOpen)) throw new Refused("");
  return { id, transport: "websocket", loads, setHidden: answering.setHidden, close: answering.close };
};

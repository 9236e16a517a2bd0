// A worker that answers probes, so that the page's own work does not delay them.
import { Answers, type Channel } from "./answers.ts";

/** The channel, the port of the loads, and the page come in one message. */
interface Start {
  channel: Channel & Transferable;
  loads: MessagePort;
}

onmessage = ({ data }: MessageEvent<Start>) => {
  const { channel, loads } = data;
  const answers = new Answers(channel, (probe) => {
    loads.postMessage(probe.stage);
    postMessage(probe);
  });
  loads.onmessage = (event) => answers.setCount(event.data);
  (channel as unknown as RTCDataChannel).onclose = () => postMessage("closed");
  postMessage("ready");
};

// A worker that answers probes, so that the page's own work does not delay them.
import { Answers, type Channel } from "./answers.ts";

/** The channel and the port of the loads come in one message. */
interface Start {
  channel: Channel & Transferable;
  loads: MessagePort;
}

/** Later messages say whether the page is in the background. */
onmessage = ({ data: { channel, loads } }: MessageEvent<Start>) => {
  const answers = new Answers(channel, (probe) => {
    loads.postMessage(probe.stage);
    postMessage(probe);
  });
  onmessage = ({ data }: MessageEvent<boolean>) => answers.setHidden(data);
  loads.onmessage = (event) => answers.setCount(event.data);
  (channel as unknown as RTCDataChannel).onclose = () => postMessage("closed");
  postMessage("ready");
};

// A worker that answers probes, so that the page's own work does not delay them.
import { Answers } from "./answers.ts";

/** Comes in one message: the channel, or the address of a WebSocket, and the port of the loads. */
export type Start = ({ channel: RTCDataChannel } | { url: string }) & { loads: MessagePort };

/** Later messages say whether the page is in the background. */
onmessage = ({ data: start }: MessageEvent<Start>) => {
  const { loads } = start;
  const channel = "url" in start ? new WebSocket(start.url) : start.channel;
  const answers = new Answers(channel, (probe) => {
    loads.postMessage(probe.stage);
    postMessage(probe);
  });
  onmessage = ({ data }: MessageEvent<boolean>) => answers.setHidden(data);
  loads.onmessage = (event) => answers.setCount(event.data);
  channel.onopen = () => postMessage("open");
  channel.onerror = () => postMessage("failed");
  channel.onclose = () => postMessage("closed");
};

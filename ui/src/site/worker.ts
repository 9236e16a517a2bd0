// Runs the engine in a thread of its worker.
import { Engine } from "./engine.ts";
import type { Reply, Request } from "./requests.ts";

let engine: Promise<Engine> | undefined;

const send = (reply: Reply): void => postMessage(reply);

onmessage = async ({ data }: MessageEvent<Request>): Promise<void> => {
  try {
    if (data.kind === "start") {
      engine = Engine.start(data.gzipped);
      return;
    }
    const running = await engine;
    if (!running) throw new Error("the engine was not started");
    const { id } = data;
    const output =
      data.kind === "sim"
        ? await running.sim(data.scenario, data.seed)
        : await running.trace(data.file, data.name, (share) => send({ kind: "progress", id, share }));
    send({ kind: "done", id, output });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (data.kind !== "start") send({ kind: "failed", id: data.id, message });
  }
};

// A service for the tests: its shards take as long to drain as they are let.
import { ring } from "@keelson/kernel";

export default {
  name: "stubborn",
  parameters: { shards: 4, replicas: 1, placement: {} },
  placement: ring({ service: "stubborn" }),
  open: () =>
    Promise.resolve({
      handle: () => Promise.resolve("ok"),
      drain: () => new Promise(() => undefined),
      close: () => new Promise(() => undefined),
    }),
};

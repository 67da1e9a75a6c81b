// A service for the tests: shard 1 throws in open, the others answer.
import { ring } from "@keelson/kernel";

export default {
  name: "throws",
  parameters: { shards: 4, replicas: 1, placement: {} },
  placement: ring({ service: "throws" }),
  open({ shard }) {
    if (shard === "1") return Promise.reject(new Error("its disk is gone"));
    return Promise.resolve({ handle: () => Promise.resolve(`shard ${shard}`) });
  },
};
